package execauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/kinform/kinform/rest"
)

// These limits, in bytes, are for the standard output of a plugin, and for the end of its standard
// error that an Error keeps.
const (
	maxOutput = 1 << 20
	maxStderr = 2 << 10
)

// orphanDelay is how long a plugin's child processes may keep the output open after the plugin has
// ended.
const orphanDelay = time.Second

// execute runs the command once.
func (p *Plugin) execute(ctx context.Context) (*rest.Credential, time.Time, error) {
	stderr := &tail{}
	output, err := p.output(ctx, stderr)
	var credential *rest.Credential
	var end time.Time
	if err == nil {
		credential, end, err = p.parseCredential(output)
	}
	if err != nil {
		return nil, end, &Error{Command: p.command, Stderr: p.redactStderr(stderr.String()), Err: err}
	}
	return credential, end, nil
}

// output runs the command, and returns its standard output.
func (p *Plugin) output(ctx context.Context, stderr io.Writer) ([]byte, error) {
	path, err := p.opts.Policy.allow(p.command)
	if err != nil {
		p.opts.OnExit(err)
		return nil, withInstallHint(err, p.opts.InstallHint)
	}
	interactive := p.opts.InteractiveMode != Never && p.isTerminal(p.opts.Stdin)
	if p.opts.InteractiveMode == Always && !interactive {
		return nil, ErrNoTerminal
	}
	info, err := p.execInfo(interactive)
	if err != nil {
		return nil, err
	}
	timeoutCtx, cancel := context.WithTimeoutCause(ctx, p.opts.Timeout, fmt.Errorf("the plugin did not end within %s: %w", p.opts.Timeout, os.ErrDeadlineExceeded))
	defer cancel()
	stdout := &limitedBuffer{}
	cmd := exec.CommandContext(timeoutCtx, path, revealAll(p.opts.Args)...)
	cmd.Args[0] = p.command
	cmd.WaitDelay = orphanDelay
	cmd.Env = append(append(os.Environ(), revealAll(p.opts.Env)...), "KUBERNETES_EXEC_INFO="+string(info))
	display := p.opts.Stderr
	if interactive {
		cmd.Stdin = p.opts.Stdin
		if display == nil {
			display = os.Stderr
		}
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if display != nil {
		cmd.Stderr = io.MultiWriter(stderr, ignoreErrors{display})
	}
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the command has succeeded
	}
	p.opts.OnExit(err)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timeoutCtx.Err() != nil:
		return nil, context.Cause(timeoutCtx)
	case cmd.Process == nil:
		return nil, withInstallHint(err, p.opts.InstallHint)
	case stdout.overflow:
		return nil, malformed("more than %d bytes", maxOutput)
	case err != nil:
		return nil, err
	}
	return stdout.data.Bytes(), nil
}

func revealAll(secrets []rest.Secret) []string {
	out := make([]string, len(secrets))
	for i, secret := range secrets {
		out[i] = secret.Reveal()
	}
	return out
}

// ignoreErrors ignores errors of a Writer, because a failure to show a plugin's messages is not a
// failure of the plugin.
type ignoreErrors struct{ io.Writer }

func (c ignoreErrors) Write(p []byte) (int, error) {
	_, _ = c.Writer.Write(p)
	return len(p), nil
}

// limitedBuffer keeps the bytes that are written to it. A write fails if it would exceed maxOutput.
type limitedBuffer struct {
	data     bytes.Buffer
	overflow bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.data.Len()+len(p) > maxOutput {
		b.overflow = true
		return 0, io.ErrShortWrite
	}
	return b.data.Write(p)
}

// tail keeps the last bytes that are written to it.
type tail struct {
	data []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - maxStderr; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// String returns the kept bytes, starting at a whole word. A partial word could be the end of a
// secret, which redactStderr would not recognise.
func (t *tail) String() string {
	if !t.cut {
		return string(t.data)
	}
	space := bytes.IndexAny(t.data, " \t\r\n")
	if space < 0 {
		return "..."
	}
	return "... " + string(t.data[space+1:])
}
