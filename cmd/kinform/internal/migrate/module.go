package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// module is the Go module whose go.mod is changed.
type module struct {
	dir    string
	file   string // the path of go.mod
	work   string // the path of the module's go.work, or ""
	parsed goMod
	env    []string  // environment of the go command, in addition to this process's
	output io.Writer // receives the go command's messages; may be nil
}

// goMod has the used parts of the output of go mod edit -json.
type goMod struct {
	Go        string // the minimum version of Go
	Toolchain string // the Go toolchain, or ""
	Require   []requirement
	Replace   []replacement
}

type requirement struct {
	Path, Version string
	Indirect      bool
}

// name returns the requirement in the form of go mod edit's flags.
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

// isOurs reports whether migrate wrote this replace directive. Its target is then a release of
// kinform, or a checkout.
func (r replacement) isOurs() bool {
	if r.Old.Version != "" {
		return false
	}
	switch r.Old.Path {
	case clientGo:
		return r.New.Path == dropIn || r.New.Version == "" && filepath.Base(r.New.Path) == "clientgo"
	case kinform:
		return r.New.Version == ""
	default:
		return false
	}
}

// openModule reads the go.mod of the module that contains dir.
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
		return nil, fmt.Errorf("%s is not in a module: there is no go.mod in this folder or above", dir)
	}
	m.dir = filepath.Dir(m.file)
	m.parsed, err = m.parse(ctx, m.file)
	return m, err
}

// parse parses a go.mod.
func (m *module) parse(ctx context.Context, file string) (parsed goMod, err error) {
	out, err := m.run(ctx, "mod", "edit", "-json", file)
	if err != nil {
		return parsed, err
	}
	if err := json.Unmarshal(out, &parsed); err != nil {
		return parsed, fmt.Errorf("reading %s: %w", file, err)
	}
	return parsed, nil
}

func (m *module) sum() string { return filepath.Join(m.dir, "go.sum") }

// withoutWorkspace returns the module without its workspace.
func (m *module) withoutWorkspace() *module {
	alone := *m
	alone.env = []string{"GOWORK=off"}
	return &alone
}

// replaceable returns nil if client-go can be replaced in the module. Otherwise its error has the
// reason.
func (m *module) replaceable(ctx context.Context) error {
	for _, r := range m.parsed.Replace {
		if m.parsed.replaces(r, clientGo) && !r.isOurs() {
			return fmt.Errorf("%s replaces client-go already: remove the line %q first", m.file, r)
		}
	}
	if m.required() == "" {
		return fmt.Errorf("%s does not require %s: there is nothing to migrate", m.file, clientGo)
	}
	if err := m.checkWorkspace(ctx); err != nil {
		return err
	}
	return m.checkPinnedModules(m.parsed)
}

// replaces reports whether a replace directive applies to a module. A directive with a version
// applies only to that version.
func (g goMod) replaces(r replacement, path string) bool {
	return r.Old.Path == path && (r.Old.Version == "" || r.Old.Version == g.version(path))
}

// required returns the version of client-go that the module requires, or "".
func (m *module) required() string { return m.parsed.version(clientGo) }

// imports reports whether the program itself imports packages of the module with this path.
func (m *module) imports(path string) bool {
	return slices.ContainsFunc(m.parsed.Require, func(r requirement) bool { return r.Path == path && !r.Indirect })
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

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// vendored reports whether the module is built from a vendor folder.
func (m *module) vendored() bool {
	_, err := os.Stat(filepath.Join(m.dir, "vendor", "modules.txt"))
	return err == nil
}

// run runs the go command in the module's folder. Its error includes the last messages of the
// command.
func (m *module) run(ctx context.Context, args ...string) ([]byte, error) {
	out, _, err := m.runWithMessages(ctx, args...)
	return out, err
}

// interruptGrace is how long the go command may take to end after an interrupt signal.
const interruptGrace = 10 * time.Second

// runWithMessages is like run, and also returns the command's messages.
func (m *module) runWithMessages(ctx context.Context, args ...string) (out []byte, said string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	// An interrupt lets the command remove its temporary files.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
	cmd.Dir = m.dir
	if len(m.env) > 0 {
		cmd.Env = append(os.Environ(), m.env...)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if m.output != nil {
		cmd.Stderr = io.MultiWriter(&stderr, m.output)
	}
	out, err = cmd.Output()
	exit := &exec.ExitError{}
	switch {
	case ctx.Err() != nil: // After an interrupt, go list -e reports a broken package and no error.
		err = fmt.Errorf("interrupted in go %s: %w", verb(args), context.Cause(ctx))
	case err == nil:
	case errors.As(err, &exit) && exit.ExitCode() == -1: // a terminal signals both processes
		err = fmt.Errorf("go %s was ended by a signal: %w", verb(args), err)
	default:
		err = fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), m.dir, err, lastLines(stderr.String(), 10))
	}
	return out, stderr.String(), err
}

// verb returns the words of a go command before its flags.
func verb(args []string) string {
	n := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if n < 0 {
		n = len(args)
	}
	return strings.Join(args[:n], " ")
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
