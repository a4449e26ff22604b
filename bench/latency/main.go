package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/klog/v2"

	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/roundorder"
)

// settings are the flags.
type settings struct {
	pods, events, runs int
	slow               time.Duration // time that the slow handler takes for each event
}

// fast is the number of measured handlers. One more handler is slow.
const fast = 9

func main() {
	var set settings
	flag.IntVar(&set.pods, "pods", 1000, "how many pods there are")
	flag.IntVar(&set.events, "events", 5000, "how many events to send at each pace")
	flag.IntVar(&set.runs, "runs", 5, "how often to measure everything; the tables show medians")
	flag.DurationVar(&set.slow, "slow", time.Millisecond, "how long the slow handler takes for an event")
	quick := flag.Bool("quick", false, "measure once with few events, only to check that everything works")
	flag.Parse()
	if *quick {
		set.events, set.runs = 1000, 1
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := run(set, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "latency:", err)
		os.Exit(1)
	}
}

// run measures everything and writes a report.
func run(set settings, out io.Writer) error {
	// client-go chooses the kind of list only by an environment variable, which it reads once. The
	// in-memory list does not support streaming lists.
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", "false"); err != nil {
		return err
	}
	heading := report.Heading()
	compared := []subject{
		{"client-go", openClientGo, clientGoGoroutines},
		{"kinform", openKinform, kinformGoroutines},
		{"bare", set.openBare, nil},
	}
	textbook := subject{"plain", openTextbook, textbookGoroutines}
	measured := make(map[string]map[string][]float64) // by row and subject, one value for each run
	note := func(row, name string, value float64) {
		if measured[row] == nil {
			measured[row] = make(map[string][]float64)
		}
		measured[row][name] = append(measured[row][name], value)
	}
	steps := progress.New("latency", set.runs*(len(compared)+1)*len(sendRates))
	for n := range set.runs {
		for _, s := range roundorder.Of(n, compared, textbook) {
			for _, p := range sendRates {
				steps.Next("run %d of %d, %s, %s", n+1, set.runs, s.name, p.name)
				latencies, err := set.measure(s, p)
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				for _, q := range quantiles {
					note(p.name+", "+q.name, s.name, latencies.quantile(q.share))
				}
			}
		}
	}
	for _, s := range append(compared, textbook) {
		if s.goroutines == nil {
			continue
		}
		steps.Printf("goroutines of %s", s.name)
		informer, handler, err := goroutines(s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		note("goroutines per informer", s.name, informer)
		note("goroutines per handler", s.name, handler)
	}
	fmt.Fprintf(out, "LATENCY from the server's write to the handler's call, %d handlers and one that takes %v, %d pods, %d events, %d runs\n\n%s",
		fast, set.slow, set.pods, set.events, set.runs, heading)
	fmt.Fprintf(out, "%-10s %s after\n\n%s", "", report.Load(), compare(measured))
	return nil
}
