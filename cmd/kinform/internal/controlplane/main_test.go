package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary act as the command, so that copies of the binary can replace the
// control plane programs.
func TestMain(m *testing.M) {
	if _, program := Named(os.Args[0]); program != nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := program(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
