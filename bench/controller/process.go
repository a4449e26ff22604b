package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/kinform/kinform/bench/controller/internal/probe"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// process is a server or a measured controller. It exits when its standard input ends. So it also
// exits when this process ends, for any reason.
type process struct {
	name    string
	cmd     *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
	last    tail
	started time.Time
	ended   chan struct{} // closed after err was set
	err     error
}

func start(name, binary string, env []string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stderr = &p.last
	input, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// StdoutPipe is not used, because Wait would close it, perhaps before everything has been read.
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.input, p.output, p.cmd.Stdout = input, bufio.NewReader(read), write
	p.started = time.Now()
	err = p.cmd.Start()
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// startServer starts an API server, and also returns its address.
func (set settings) startServer() (p *process, address string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	p, err = start("the server", self, nil, "server", "-upstream="+set.kubeconfig)
	if err != nil {
		return nil, "", err
	}
	line, err := p.output.ReadString('\n')
	if err != nil {
		return nil, "", errors.Join(p.failed(err), p.kill())
	}
	return p, line[:len(line)-1], nil
}

// startSide starts a controller against the server at an address.
func (set settings) startSide(s *side, dir, address, name string, args ...string) (*process, error) {
	config := filepath.Join(dir, "kubeconfig")
	if err := kubeconfig.Write(config, kubeconfig.Connection{Config: rest.Config{Host: address}}); err != nil {
		return nil, err
	}
	args = append(append(args, "-name", name), s.args...)
	return start(s.name, s.binary, []string{"KUBECONFIG=" + config}, args...)
}

// command sends a command of package probe to a controller.
func (p *process) command(command string) (r probe.Report, err error) {
	if _, err := fmt.Fprintln(p.input, command); err != nil {
		return r, p.failed(err)
	}
	line, err := p.output.ReadBytes('\n')
	if err != nil {
		return r, p.failed(err)
	}
	return r, json.Unmarshal(line, &r)
}

// failed adds the last output lines of the process to an error.
func (p *process) failed(err error) error {
	return fmt.Errorf("%s: %w; last output:\n%s", p.name, err, p.last.text())
}

// stop ends a process with SIGTERM, as a cluster does.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return p.failed(err)
	}
	select {
	case <-p.ended:
		if p.err != nil {
			return p.failed(p.err)
		}
		return nil
	case <-time.After(time.Minute):
		return errors.Join(p.failed(errors.New("the process did not end within a minute after SIGTERM")), p.kill())
	}
}

// kill kills a process, which may have ended already, and waits for it.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.ended
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// tail keeps the last lines of a process's output.
type tail struct {
	mu    sync.Mutex // guards following
	lines []byte
}

const tailBytes = 2000

// Write implements io.Writer.
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, data...)
	if over := len(t.lines) - tailBytes; over > tailBytes {
		t.lines = append([]byte(nil), t.lines[over:]...)
	}
	return len(data), nil
}

func (t *tail) text() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.lines[max(0, len(t.lines)-tailBytes):])
}
