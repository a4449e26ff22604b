package migrate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	clientGo = "k8s.io/client-go"
	kinform  = "github.com/kinform/kinform"
	dropIn   = kinform + "/clientgo"

	// clientGoVersion is the version of client-go that the replacement module stands for.
	clientGoVersion = "v0.37.2"
)

// dropInVersion returns the version of the replacement module in a release of kinform, such as
// v0.37.2-kinform.0.1.0 in v0.1.0 (docs/adr/0009-modules.md).
func dropInVersion(release string) string {
	return clientGoVersion + "-kinform." + strings.TrimPrefix(release, "v")
}

// target is the target of the replace directive: a release or a checkout.
type target struct {
	version  string // version of the release
	checkout string // the folder of the checkout, or ""
}

// target returns the target that the flags name. It makes the path of a checkout absolute: a flag
// is relative to the current folder, but a path in go.mod is relative to the module's folder.
func (o options) target() (target, error) {
	switch {
	case o.from != "":
		checkout, err := filepath.Abs(o.from)
		if err != nil {
			return target{}, fmt.Errorf("--from %s: %w", o.from, err)
		}
		if _, err := os.Stat(filepath.Join(checkout, "clientgo", "go.mod")); err != nil {
			return target{}, fmt.Errorf("--from %s is not a checkout of kinform: %w", o.from, err)
		}
		return target{checkout: checkout}, nil
	case o.version != "":
		return target{version: o.version}, nil
	default:
		return target{}, errors.New("this command was not built from a release: name a checkout of kinform with --from, or a release with --version")
	}
}

// lines returns the replace directives without the word replace. A checkout needs a second
// directive, because Go ignores the replace directives of required modules.
func (t target) lines() []string {
	if t.checkout == "" {
		return []string{clientGo + " => " + dropIn + " " + dropInVersion(t.version)}
	}
	return []string{
		clientGo + " => " + filepath.Join(t.checkout, "clientgo"),
		kinform + " => " + t.checkout,
	}
}

// edits returns the directives of lines as flags of go mod edit.
func (t target) edits() []string {
	if t.checkout == "" {
		return []string{"-replace=" + clientGo + "=" + dropIn + "@" + dropInVersion(t.version)}
	}
	return []string{
		"-replace=" + clientGo + "=" + filepath.Join(t.checkout, "clientgo"),
		"-replace=" + kinform + "=" + t.checkout,
	}
}

// pins returns the flags of go mod edit that restore replace directives for single versions of
// client-go. They are necessary because go mod edit drops these directives when it adds one for all
// versions.
func (g goMod) pins() (flags []string) {
	for _, r := range g.Replace {
		if r.Old.Path == clientGo && r.Old.Version != "" {
			flags = append(flags, "-replace="+r.Old.name()+"="+r.New.name())
		}
	}
	return flags
}
