// Command kinform shows Kubernetes' informer machinery at work: on an embedded API server (demo,
// lab, apiserver) and on any cluster (watch, view), in a browser or in the terminal (top). It moves
// programs from client-go to kinform (migrate), and replaces the control plane of envtest
// (envtest-assets).
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/kinform/kinform/cmd/kinform/internal/apiserver"
	"github.com/kinform/kinform/cmd/kinform/internal/controlplane"
	"github.com/kinform/kinform/cmd/kinform/internal/demo"
	"github.com/kinform/kinform/cmd/kinform/internal/laboratory"
	"github.com/kinform/kinform/cmd/kinform/internal/migrate"
	"github.com/kinform/kinform/cmd/kinform/internal/terminal"
	"github.com/kinform/kinform/cmd/kinform/internal/top"
	"github.com/kinform/kinform/cmd/kinform/internal/watch"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second signal ends the process at once, in case a drain hangs.
	context.AfterFunc(ctx, stop)
	ok := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	if !ok {
		os.Exit(1)
	}
}

// run runs a command, and reports whether it succeeded. The output and the log may contain texts
// from a server, so both go through a terminal.Writer. It sets the log output of the process, so
// two runs must not overlap.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) bool {
	out, errOut := terminal.NewWriter(stdout), terminal.NewWriter(stderr)
	log.SetOutput(errOut)
	name, err := "kinform", error(nil)
	if named, program := controlplane.Named(args[0]); program != nil {
		name, err = named, program(ctx, args[1:], out, errOut)
	} else {
		root := newRoot()
		root.SetArgs(args[1:])
		root.SetOut(out)
		root.SetErr(errOut)
		err = root.ExecuteContext(ctx)
	}
	if err != nil {
		fmt.Fprintf(errOut, "%s: %s\n", name, oneLine(err))
	}
	return err == nil
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "kinform",
		Short: "Kubernetes' informer machinery, to run and to look at",
		Long: `kinform runs Kubernetes' informer machinery. A reflector lists and watches objects, and puts the
changes into a DeltaFIFO. The informer takes the changes from there, updates an indexed store, and
calls handlers. The handlers put keys into a workqueue.

Start with "kinform demo": it needs no cluster.`,
		Version:       versionLine(), // for --version
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(explainFlag)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(demo.Command(), laboratory.Command(), watch.Command(), watch.View(), top.Command(), apiserver.Command(), controlplane.Command(), migrate.Command(release()), newVersion())
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Args = helpTarget
		}
	}
	return root
}

// oneLine converts an error to one line.
func oneLine(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines, "; ")
}
