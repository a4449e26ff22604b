package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is a module of Go whose go.mod is changed.
type module struct {
	dir    string
	file   string // the path of go.mod
	work   string // the path of the go.work of which the module is a part, or ""
	parsed goMod
}

// goMod is what of the output of go mod edit -json is used.
type goMod struct {
	Go        string // the least version of Go that it is for
	Toolchain string // the one of Go that it names, or ""
	Require   []requirement
	Replace   []replacement
}

type requirement struct {
	Path, Version string
	Indirect      bool
}

// name returns it as the flags of go mod edit take it.
func (v requirement) name() string {
	if v.Version == "" {
		return v.Path
	}
	return v.Path + "@" + v.Version
}

type replacement struct{ Old, New requirement }

func (r replacement) String() string {
	return strings.TrimSpace(strings.TrimSpace(r.Old.Path+" "+r.Old.Version) + " => " + r.New.Path + " " + r.New.Version)
}

// ours says whether migrate wrote the line: it points to a release of kinform, or to a checkout.
func (r replacement) ours() bool {
	switch r.Old.Path {
	case clientGo:
		return r.New.Path == dropIn || r.New.Version == "" && filepath.Base(r.New.Path) == "clientgo"
	case kinform:
		return r.New.Version == ""
	default:
		return false
	}
}

// openModule reads the go.mod of the module that dir is in.
func openModule(ctx context.Context, dir string) (*module, error) {
	m := &module{dir: dir}
	out, err := m.run(ctx, "env", "-json", "GOMOD", "GOWORK")
	if err != nil {
		return nil, err
	}
	var env struct{ GOMOD, GOWORK string }
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, fmt.Errorf("reading the output of go env: %w", err)
	}
	m.file = env.GOMOD
	if env.GOWORK != "off" {
		m.work = env.GOWORK
	}
	if m.file == "" || m.file == os.DevNull {
		return nil, fmt.Errorf("%s is in no module: there is no go.mod in it or above it", dir)
	}
	m.dir = filepath.Dir(m.file)
	return m, m.read(ctx)
}

func (m *module) read(ctx context.Context) error {
	out, err := m.run(ctx, "mod", "edit", "-json")
	if err != nil {
		return err
	}
	m.parsed = goMod{}
	if err := json.Unmarshal(out, &m.parsed); err != nil {
		return fmt.Errorf("reading %s: %w", m.file, err)
	}
	return nil
}

// replaceable returns why client-go cannot be replaced in the module.
func (m *module) replaceable(ctx context.Context) error {
	for _, r := range m.parsed.Replace {
		if r.Old.Path == clientGo && !r.ours() {
			return fmt.Errorf("%s replaces client-go already: remove its line %q first", m.file, r)
		}
	}
	if m.required() == "" {
		return fmt.Errorf("%s does not require %s: there is nothing to migrate", m.file, clientGo)
	}
	if err := m.overruled(ctx); err != nil {
		return err
	}
	return m.heldBack()
}

// required returns the version of client-go that the module requires, or "".
func (m *module) required() string { return m.parsed.version(clientGo) }

// edit changes go.mod by flags of go mod edit, and tidies it. Where that fails, go.mod and go.sum are
// as they were.
func (m *module) edit(ctx context.Context, flags ...string) (err error) {
	restore, err := m.save()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, restore())
		}
	}()
	if _, err := m.run(ctx, append([]string{"mod", "edit"}, flags...)...); err != nil {
		return err
	}
	return m.tidy(ctx)
}

// tidy adds what the module requires now, and removes what it does not.
func (m *module) tidy(ctx context.Context) error {
	before := m.parsed.Require
	// With -e, an import of a package that client-go has and kinform lacks does not end it. Compiling finds that.
	_, said, err := m.runBoth(ctx, "mod", "tidy", "-e")
	if err != nil {
		return err
	}
	if err := m.read(ctx); err != nil {
		return err
	}
	// Neither does a module that cannot be had, and that one is removed then.
	for _, r := range before {
		if !r.Indirect && m.parsed.version(r.Path) == "" && strings.Contains(said, r.Path) {
			return fmt.Errorf("go mod tidy in %s does not find all that the module imports of %s:\n%s%s", m.dir, r.Path, lastLines(said, 10), m.unseen())
		}
	}
	return nil
}

// requiresKinform says whether the program itself imports kinform.
func (m *module) requiresKinform() bool {
	return slices.ContainsFunc(m.parsed.Require, func(r requirement) bool { return r.Path == kinform && !r.Indirect })
}

// version returns the version that go.mod requires of a module, or "".
func (g goMod) version(path string) string {
	for _, r := range g.Require {
		if r.Path == path {
			return r.Version
		}
	}
	return ""
}

// save returns a function that writes go.mod and go.sum again as they are now.
func (m *module) save() (restore func() error, err error) {
	sum := filepath.Join(m.dir, "go.sum")
	mod, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(sum)
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && !none {
		return nil, err
	}
	return func() error {
		if none {
			return errors.Join(os.WriteFile(m.file, mod, 0o644), ignoreAbsence(os.Remove(sum)))
		}
		return errors.Join(os.WriteFile(m.file, mod, 0o644), os.WriteFile(sum, sums, 0o644))
	}, nil
}

func ignoreAbsence(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// vendored says whether builds of the module look at copies of what it requires.
func (m *module) vendored() bool {
	_, err := os.Stat(filepath.Join(m.dir, "vendor", "modules.txt"))
	return err == nil
}

// run runs the go command in the module's folder. Its error has the last of what the command said.
func (m *module) run(ctx context.Context, args ...string) ([]byte, error) {
	out, _, err := m.runBoth(ctx, args...)
	return out, err
}

// runBoth is run, and returns what the command said beside its output.
func (m *module) runBoth(ctx context.Context, args ...string) (out []byte, said string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = m.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), m.dir, err, lastLines(stderr.String(), 10))
	}
	return out, stderr.String(), err
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
