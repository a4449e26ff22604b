package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/kinform/kinform/apitest"
)

// serve is an API server in a process of its own, until the standard input ends.
func serve(out io.Writer) error {
	api := apitest.New(apitest.Options{})
	defer api.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: api}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
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

// stop ends it, and waits for it.
func (c *child) stop() {
	_ = c.input.Close()
	_ = c.cmd.Wait()
}
