package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// process is one child process. A nil process has never run; its methods are valid.
type process struct {
	name string
	cmd  *exec.Cmd
	done bool
}

// startProcess runs a binary whose output is appended to name.log in dir. It
// starts no goroutine.
func startProcess(bin, dir, name string, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own descriptor
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir = dir
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &process{name: name, cmd: cmd}, nil
}

// exited returns an error if the process has exited by itself.
func (p *process) exited() error {
	if p.done {
		return nil
	}
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WNOHANG, nil)
	if pid == 0 && err == nil {
		return nil
	}
	p.done = true
	return fmt.Errorf("%s ended by itself with status %d", p.name, status.ExitStatus())
}

// kill sends SIGKILL to the process, and waits for it.
func (p *process) kill() error {
	if p == nil || p.done {
		return nil
	}
	p.done = true
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	_ = p.cmd.Wait() // the error says that the process was killed
	return nil
}

// freePort finds a free port below the range for outgoing connections. With a port of that range, a
// killed server might not be able to restart, because a client's connection may use the port. Even
// a connection of the client to itself is possible.
func freePort() (int, error) {
	var err error
	for range 100 {
		port := 20000 + rand.IntN(10000)
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port: %w", err)
}
