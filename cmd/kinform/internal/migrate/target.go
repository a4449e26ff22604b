package migrate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	clientGo = "k8s.io/client-go"
	kinform  = "github.com/kinform/kinform"
	dropIn   = kinform + "/clientgo"
)

// target is what a replace line points to: a release, or a checkout.
type target struct {
	version  string // of a release
	checkout string // its folder, or ""
}

// target returns what the flags ask for. Go sees a relative path in go.mod from the module's folder, and the command's
// arguments are seen from the current one: the path is made absolute.
func (o options) target() (target, error) {
	switch {
	case o.from != "":
		checkout, err := filepath.Abs(o.from)
		if err != nil {
			return target{}, fmt.Errorf("--from %s: %w", o.from, err)
		}
		if _, err := os.Stat(filepath.Join(checkout, "clientgo", "go.mod")); err != nil {
			return target{}, fmt.Errorf("--from %s is no checkout of kinform: %w", o.from, err)
		}
		return target{checkout: checkout}, nil
	case o.version != "":
		return target{version: o.version}, nil
	default:
		return target{}, errors.New("this command is not of a release: say with --from where a checkout of kinform is, or with --version which release to take")
	}
}

// lines returns the replace lines without the word replace. A checkout needs a second one, because Go
// does not look at the replace lines of a module that is required.
func (t target) lines() []string {
	if t.checkout == "" {
		return []string{clientGo + " => " + dropIn + " " + t.version}
	}
	return []string{
		clientGo + " => " + filepath.Join(t.checkout, "clientgo"),
		kinform + " => " + t.checkout,
	}
}

// edits returns the same as flags of go mod edit.
func (t target) edits() []string {
	if t.checkout == "" {
		return []string{"-replace=" + clientGo + "=" + dropIn + "@" + t.version}
	}
	return []string{
		"-replace=" + clientGo + "=" + filepath.Join(t.checkout, "clientgo"),
		"-replace=" + kinform + "=" + t.checkout,
	}
}

// pins returns the flags of go mod edit that add the replace lines for single versions of client-go again: go mod edit drops them when
// it adds a line for all versions.
func (g goMod) pins() (flags []string) {
	for _, r := range g.Replace {
		if r.Old.Path == clientGo && r.Old.Version != "" {
			flags = append(flags, "-replace="+r.Old.name()+"="+r.New.name())
		}
	}
	return flags
}

// requires returns the flags of go mod edit that make a module require kinform itself. They are none if it does.
func (t target) requires(m *module) []string {
	for _, r := range m.parsed.Require {
		if r.Path == kinform {
			return nil
		}
	}
	if t.checkout == "" {
		return []string{"-require=" + kinform + "@" + t.version}
	}
	return []string{"-require=" + kinform + "@v0.0.0", "-replace=" + kinform + "=" + t.checkout}
}
