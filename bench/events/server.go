package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/bench/internal/subprocess"
)

// serve runs an API server in a process of its own, until standard input ends.
func serve(out io.Writer) error {
	api := apitest.New(apitest.Options{})
	defer api.Close()
	return subprocess.Serve(api, out)
}

// child is the server's process.
type child struct {
	cmd   *exec.Cmd
	input io.Closer
}

func startServer() (*child, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(self, "server")
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	c := &child{cmd, input}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		c.stop()
		return nil, "", fmt.Errorf("the server did not start: %w", err)
	}
	return c, strings.TrimSpace(line), nil
}

// stop ends the process, and waits for it.
func (c *child) stop() {
	_ = c.input.Close()
	_ = c.cmd.Wait()
}
