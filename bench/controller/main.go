package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/roundorder"
)

// settings are the flags.
type settings struct {
	objects, runs, takeovers, rate int
	workers                        []int
	steady                         time.Duration
	kubeconfig, profiles           string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "server" { // the driver starts itself
		if err := serve(os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "controller server:", err)
			os.Exit(1)
		}
		return
	}
	set := settings{}
	flag.IntVar(&set.objects, "objects", 10_000, "how many widgets there are")
	flag.IntVar(&set.runs, "runs", 3, "how often to measure each side; the tables show medians")
	workers := flag.String("workers", "1,8", "how many reconciles at once, one table for each")
	flag.IntVar(&set.takeovers, "takeovers", 3, "how often to end the leader of each side, by SIGTERM and by SIGKILL")
	flag.IntVar(&set.rate, "rate", 100, "changes per second in the phase with an even pace")
	flag.DurationVar(&set.steady, "steady", 15*time.Second, "how long a step with an even pace lasts")
	flag.StringVar(&set.kubeconfig, "kubeconfig", "", "kubeconfig of a server to use instead of package apitest; all Widgets and all ConfigMaps in the namespace default are deleted")
	flag.StringVar(&set.profiles, "profile", "", "directory for CPU and heap profiles of each side")
	quick := flag.Bool("quick", false, "measure once with few objects, only to check that everything works")
	flag.Parse()
	if *quick {
		set.objects, set.runs, set.takeovers, set.steady, *workers = 500, 1, 0, 3*time.Second, "8"
	}
	for text := range strings.SplitSeq(*workers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "controller: -workers is %q: give numbers above zero, separated by commas\n", *workers)
			os.Exit(2)
		}
		set.workers = append(set.workers, n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // for the load's client
	if err := run(ctx, set, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "controller:", err)
		os.Exit(1)
	}
}

// side is a measured controller.
type side struct {
	name   string
	source string   // directory
	args   []string // in addition to the common arguments
	binary string
}

// These are the names of the sides in the report.
const (
	theirs  = "controller-runtime"
	ours    = "kinform"
	waiting = "c.-r., waiting"
)

// run measures everything and writes a report.
func run(ctx context.Context, set settings, out io.Writer) error {
	heading := report.Heading() // before the measurement, because it includes the machine's load
	dir, err := os.MkdirTemp("", "bench-controller-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	compared := []*side{{name: theirs, source: "controllerruntime"}, {name: ours, source: "kinform"}}
	for _, s := range compared {
		s.binary = filepath.Join(dir, s.source)
		fmt.Fprintf(os.Stderr, "controller: compiling the program %s, which takes minutes the first time\n", s.source)
		if err := build(s); err != nil {
			return err
		}
	}
	// This is controller-runtime's program as well, but its reads of the cache wait for its own
	// writes.
	aside := &side{name: waiting, source: compared[0].source, binary: compared[0].binary, args: []string{"-waiting"}}

	fmt.Fprintf(out, "CONTROLLER of %d objects that own a ConfigMap each, %d runs, %d changes per second at an even pace for %v\n\n%s%-10s %s\n%-10s %s\n\n",
		set.objects, set.runs, set.rate, set.steady, heading, "versus", "controller-runtime "+moduleVersion("sigs.k8s.io/controller-runtime"), "server", set.server())
	weighed, err := sizeTable(compared)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, weighed)
	for _, workers := range set.workers {
		measured := results{}
		for n := range set.runs {
			for _, s := range roundorder.Of(n, compared, aside) {
				fmt.Fprintf(os.Stderr, "controller: %d workers, run %d: %s\n", workers, n+1, s.name)
				if err := set.round(ctx, s, workers, dir, measured); err != nil {
					return errors.Join(fmt.Errorf("%s with %d workers: %w", s.name, workers, err), context.Cause(ctx))
				}
			}
		}
		fmt.Fprintln(out, measured.table(fmt.Sprintf("%d workers", workers)))
		fmt.Fprintln(out, measured.requests(set))
	}
	if set.takeovers > 0 {
		measured := results{}
		for n := range set.takeovers {
			for _, s := range roundorder.Of(n, compared, nil) {
				if s == nil {
					continue
				}
				fmt.Fprintf(os.Stderr, "controller: takeover %d: %s\n", n+1, s.name)
				if err := set.takeover(ctx, s, dir, measured); err != nil {
					return errors.Join(fmt.Errorf("%s, takeover: %w", s.name, err), context.Cause(ctx))
				}
			}
		}
		fmt.Fprintln(out, measured.table("takeover"))
	}
	_, err = fmt.Fprintf(out, "%-10s %s after\n", "load", report.Load())
	return err
}

func (set settings) server() string {
	if set.kubeconfig != "" {
		return "of " + filepath.Base(set.kubeconfig) + ", behind a proxy that counts"
	}
	return "package apitest, HTTP/1.1 without TLS"
}
