package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/subject"
)

// kind is a client with its encoding, mode and shape.
type kind struct {
	program               string
	encoding, mode, shape string
}

// These are the programs. Each is named after its source directory.
const (
	sources = "github.com/kinform/kinform/bench/sync/"

	clientgo = "clientgo"
	kinform  = "kinform" // with its defaults
	plain    = "plain"   // the textbook pipeline, which lists whole pods in JSON
	raw      = "raw"

	// withoutSharing is kinform's program with objects that share nothing.
	withoutSharing = "kinform" + unsharedSuffix

	unsharedSuffix = "+unshared"
)

func (k kind) String() string {
	return fmt.Sprintf("%s-%s-%s-%s", k.program, k.encoding, k.mode, k.shape)
}

// environment is the environment in which clients run.
type environment struct {
	server   *server
	bin      string // directory of the programs
	profiles string // directory for profiles, or ""
	started  int
	steps    *progress.Progress
}

// newEnvironment builds the programs and populates a server. If dropin is set, it also builds the
// programs with the replace directive for module clientgo.
func newEnvironment(pods, updates int, profiles string, dropin bool) (*environment, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	l := &environment{bin: dir, profiles: profiles}
	cmd := exec.Command("go", "build", "-o", dir, sources+clientgo, sources+kinform, sources+plain, sources+raw)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		l.close()
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	if dropin {
		if err := buildWithDropin(dir); err != nil {
			l.close()
			return nil, err
		}
	}
	if l.server, err = newServer(pods, updates); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *environment) close() {
	if l.server != nil {
		l.server.Close()
	}
	_ = os.RemoveAll(l.bin)
}

// client is a measured process.
type client struct {
	kind
	name     string
	cmd      *exec.Cmd
	cancel   context.CancelFunc
	commands io.WriteCloser
	reports  *json.Decoder
	stderr   bytes.Buffer
}

// clientTimeout is the longest time that a client may run.
const clientTimeout = 5 * time.Minute

// start starts a client and waits until it has synced. If hold is set, the server delays the
// client's watch until it is released.
func (l *environment) start(k kind, hold bool) (*client, subject.Report, error) {
	l.started++
	c := &client{kind: k, name: fmt.Sprintf("%s#%d", k, l.started)}
	if hold {
		l.server.hold(c.name)
	}
	task := subject.Task{URL: l.server.url, Name: c.name, Encoding: k.encoding, Mode: k.mode, Shape: k.shape}
	var binary string
	binary, task.Unshared = strings.CutSuffix(k.program, unsharedSuffix)
	profile := ""
	if l.profiles != "" {
		profile = filepath.Join(l.profiles, k.String())
	}
	ctx, cancel := context.WithTimeout(context.Background(), clientTimeout)
	c.cancel = cancel
	c.cmd = exec.CommandContext(ctx, filepath.Join(l.bin, binary), task.Args(profile)...)
	c.cmd.Stderr = &c.stderr
	orders, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, subject.Report{}, err
	}
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, subject.Report{}, err
	}
	c.commands, c.reports = orders, json.NewDecoder(output)
	if err := c.cmd.Start(); err != nil {
		return nil, subject.Report{}, err
	}
	synced, err := c.expect("synced")
	if err == nil && k.program != raw {
		err = l.server.check(c.name, k.encoding, k.mode)
	}
	if err == nil && k.program != raw && synced.Objects != l.server.pods {
		err = fmt.Errorf("%s holds %d pods instead of %d", c.name, synced.Objects, l.server.pods)
	}
	if err != nil {
		c.kill()
		return nil, subject.Report{}, err
	}
	return c, synced, nil
}

// command sends a command to the client, and calls trigger, which causes the event that the client
// waits for. It returns the client's report, and the time at which trigger was called.
func (c *client) command(command string, trigger func() error) (subject.Report, time.Time, error) {
	if _, err := fmt.Fprintln(c.commands, command); err != nil {
		return subject.Report{}, time.Time{}, c.failed(err)
	}
	if _, err := c.expect("ready"); err != nil {
		return subject.Report{}, time.Time{}, err
	}
	begin := time.Now()
	if err := trigger(); err != nil {
		return subject.Report{}, begin, err
	}
	done, err := c.expect("done")
	return done, begin, err
}

// expect reads the next report, which must be about this phase.
func (c *client) expect(phase string) (r subject.Report, err error) {
	if err = c.reports.Decode(&r); err == nil && r.Phase != phase {
		err = fmt.Errorf("reported %q instead of %q", r.Phase, phase)
	}
	if err != nil {
		return r, c.failed(err)
	}
	return r, nil
}

// failed kills the client and adds its last output to an error.
func (c *client) failed(err error) error {
	c.kill()
	return fmt.Errorf("%s: %w\n%s", c.name, err, &c.stderr)
}

// stop waits until the client has ended by itself.
func (c *client) stop() error {
	defer c.cancel()
	_ = c.commands.Close()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c.name, err, &c.stderr)
	}
	return nil
}

// kill kills the client. It may be called again.
func (c *client) kill() {
	c.cancel()
	_ = c.cmd.Wait()
}
