package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

const kinform = "github.com/kinform/kinform"

// folders hold the modules of a release. A module comes after the modules that it requires.
var folders = []string{"", "clientgo", "metrics", "tracing", "cmd/kinform"}

// release is a version of all modules.
type release struct {
	root     string // folder of the checkout
	number   string // in file VERSION, such as 0.1.0
	clientGo string // the version of client-go that module clientgo stands for
}

// A prerelease is refused, because v0.37.2-kinform.0.1.0-rc.1 is newer than v0.37.2-kinform.0.1.0.
var isNumber = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

func readRelease(root string) (r release, err error) {
	text, err := os.ReadFile(filepath.Join(root, "VERSION"))
	if err != nil {
		return r, err
	}
	r = release{root: root, number: strings.TrimSpace(string(text))}
	if !isNumber.MatchString(r.number) {
		return r, fmt.Errorf("file VERSION has %q: write three numbers, such as 0.1.0", r.number)
	}
	mod, err := parseMod(filepath.Join(root, "clientgo", "go.mod"))
	if err != nil {
		return r, err
	}
	for _, required := range mod.Require {
		if required.Mod.Path == "k8s.io/api" {
			r.clientGo = required.Mod.Version
			return r, nil
		}
	}
	return r, errors.New("clientgo/go.mod does not require k8s.io/api, whose version is client-go's too")
}

// version returns the version of the module in a folder. The version of clientgo has client-go's
// version in front.
func (r release) version(folder string) string {
	if folder == "clientgo" {
		return r.clientGo + "-kinform." + r.number
	}
	return "v" + r.number
}

func (r release) tag(folder string) string { return path.Join(folder, r.version(folder)) }

func (r release) tags() (all []string) {
	for _, folder := range folders {
		all = append(all, r.tag(folder))
	}
	return all
}

func (r release) branch() string { return "release-v" + r.number }

// checkReady returns an error if the checkout is not ready for the release.
func (r release) checkReady(ctx context.Context) error {
	changes, err := output(ctx, r.root, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("the work tree has changes: commit or remove them\n%s", changes)
	}
	changelog, err := readChangelog(r.root)
	if err != nil {
		return err
	}
	if changelog.version != r.number {
		return fmt.Errorf("the top section of CHANGELOG.md is for version %q, file VERSION has %s", changelog.version, r.number)
	}
	found, err := output(ctx, r.root, nil, "git", append([]string{"tag", "--list"}, r.tags()...)...)
	if err != nil {
		return err
	}
	if found != "" {
		return errors.New("tags of this version exist: " + strings.Join(strings.Fields(found), ", "))
	}
	return nil
}
