package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a process of the load test, which runs this program in another role.
type process struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended and err is set
	err   error

	mu          sync.Mutex // guards following
	partialLine []byte     // the line that is still incomplete
	lines       []string
	newLine     chan struct{} // closed and replaced at each line
	stopping    bool          // a signal has asked the process to end
}

// startProcess starts this program with the given arguments. It adds env to the environment. It
// calls gone if the process ends although nothing has asked it to end.
func startProcess(name string, env []string, gone func(error), args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: exec.Command(self, append(args, "-attached")...), ended: make(chan struct{}), newLine: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p, os.Stderr
	if _, err := p.cmd.StdinPipe(); err != nil {
		// The kernel closes the pipe when this process ends, and the child then exits.
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		p.mu.Lock()
		asked := p.stopping
		p.mu.Unlock()
		if !asked {
			gone(fmt.Errorf("%s ended by itself: %v", p.name, p.cmd.ProcessState))
		}
		close(p.ended)
	}()
	return p, nil
}

// Write collects the output of the process.
func (p *process) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partialLine = append(p.partialLine, data...)
	for {
		line, rest, whole := bytes.Cut(p.partialLine, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		p.lines, p.partialLine = append(p.lines, string(line)), rest
		close(p.newLine)
		p.newLine = make(chan struct{})
	}
}

// line looks for a line that begins with a word, and returns the rest of the first such line. The
// channel more is closed when the process prints another line.
func (p *process) line(word string) (rest string, found bool, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.lines {
		if first, rest, _ := strings.Cut(line, " "); first == word {
			return rest, true, p.newLine
		}
	}
	return "", false, p.newLine
}

// await waits until the process prints a line that begins with a word, and returns the rest of the
// line.
func (p *process) await(ctx context.Context, word string) (string, error) {
	for {
		rest, found, more := p.line(word)
		if found {
			return rest, nil
		}
		select {
		case <-more:
		case <-p.ended:
			return "", fmt.Errorf("%s ended before it was %s: %w", p.name, word, p.err)
		case <-ctx.Done():
			return "", fmt.Errorf("%s is not %s: %w", p.name, word, context.Cause(ctx))
		}
	}
}

// signal sends a signal that should end the process.
func (p *process) signal(s os.Signal) error {
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// stop ends a process in the same way as a cluster, and waits for its end. If the process does not
// end within a minute, stop kills it and returns an error.
func (p *process) stop() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return p.err
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("%s did not end within a minute after SIGTERM", p.name)
	}
}

// peak returns the maximum memory of a process so far in bytes, as the Linux kernel reports it. It
// is 0 on other systems, or after the process has ended.
func (p *process) peak() int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
