package main

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// compareAPI compares the exported API of the checkout with the newest release, or with base. It
// returns an error for an incompatible change of a package that the changelog does not name.
func (r release) compareAPI(ctx context.Context, dir, base string) error {
	if base == "" {
		tags, err := output(ctx, r.root, nil, "git", "tag", "--list", "v[0-9]*", "--sort=-version:refname")
		if err != nil {
			return err
		}
		newest, _, _ := strings.Cut(tags, "\n")
		if newest == "" {
			fmt.Println("API: nothing is released yet, so there is nothing to compare with. BASE=commit compares with a commit")
			return nil
		}
		// The parent of a release commit has the same API, and needs no published module.
		base = newest + "^"
	}
	changelog, err := readChangelog(r.root)
	if err != nil {
		return err
	}
	old, tool := filepath.Join(dir, "old"), filepath.Join(dir, "apidiff")
	for _, step := range [][]string{
		{"git", "clone", "--quiet", "--shared", "--no-checkout", r.root, old},
		{"git", "-C", old, "checkout", "--quiet", "--detach", base},
		{"go", "build", "-o", tool, "golang.org/x/exp/cmd/apidiff"}, // at the version in go.mod
	} {
		if _, err := output(ctx, "", nil, step[0], step[1:]...); err != nil {
			return err
		}
	}
	count, unnamed := 0, []string(nil)
	for _, folder := range folders {
		if folder == "cmd/kinform" { // It has no package that a program can import.
			continue
		}
		changes, err := incompatible(ctx, tool, filepath.Join(old, folder), filepath.Join(r.root, folder), dir, folder)
		if err != nil {
			return err
		}
		for _, change := range changes {
			count++
			fmt.Printf("API of %s since %s: %s\n", moduleOf(folder), base, change)
			if name := packageOf(folder, change); !changelog.names(name) && !slices.Contains(unnamed, name) {
				unnamed = append(unnamed, name)
			}
		}
	}
	if len(unnamed) > 0 {
		return fmt.Errorf("the API of these packages changed incompatibly: %s. Undo the changes, or name each package in CHANGELOG.md, "+
			"top section, below \"### Incompatible changes\", such as: `%s`", strings.Join(unnamed, ", "), unnamed[0])
	}
	fmt.Printf("API: %d incompatible changes since %s, all of them in CHANGELOG.md\n", count, base)
	return nil
}

// incompatible returns the incompatible changes between two checkouts of a module.
func incompatible(ctx context.Context, tool, old, current, dir, folder string) ([]string, error) {
	var files []string
	for i, checkout := range []string{old, current} {
		file := filepath.Join(dir, fmt.Sprintf("%d-%s.api", i, filepath.Base(current)))
		if _, err := output(ctx, checkout, nil, tool, "-m", "-w", file, moduleOf(folder)); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	said, err := output(ctx, dir, nil, tool, "-m", "-incompatible", files[0], files[1])
	if err != nil || said == "" {
		return nil, err
	}
	return strings.Split(said, "\n"), nil
}

func moduleOf(folder string) string {
	if folder == "clientgo" {
		return "k8s.io/client-go"
	}
	return path.Join(kinform, folder)
}

// These match a line of apidiff, such as "- ./rest/sharing.Guard: removed".
var (
	ofPackage = regexp.MustCompile(`^- package (\S+): `)
	ofName    = regexp.MustCompile(`^- \./([^.:]+)\.`)
)

// packageOf returns the folder of a changed package in the repository, or kinform for its root.
func packageOf(folder, change string) string {
	below := ""
	if match := ofPackage.FindStringSubmatch(change); match != nil {
		below = strings.Trim(strings.TrimPrefix(match[1], moduleOf(folder)), "/")
	} else if match := ofName.FindStringSubmatch(change); match != nil {
		below = match[1]
	}
	if name := path.Join(folder, below); name != "" {
		return name
	}
	return "kinform"
}
