package main

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/kinform/kinform/bench/clientgo"
	"github.com/kinform/kinform/bench/internal/meter"
	"github.com/kinform/kinform/bench/internal/progress"
	"github.com/kinform/kinform/bench/internal/report"
	"github.com/kinform/kinform/bench/internal/roundorder"
)

type settings struct{ runs, events int }

func main() {
	if len(os.Args) > 1 && os.Args[1] == "server" { // the driver starts itself
		if err := serve(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "events server:", err)
			os.Exit(1)
		}
		return
	}
	var set settings
	flag.IntVar(&set.runs, "runs", 5, "how often to measure everything; the tables show medians")
	flag.IntVar(&set.events, "events", 20_000, "how many events a measurement records; rows that send events have a tenth")
	quick := flag.Bool("quick", false, "measure once with few events, only to check that everything works")
	flag.Parse()
	if *quick {
		set.runs, set.events = 1, 2000
	}
	clientgo.Quiet()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // drops the log lines about dropped events
	if err := run(set, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "events:", err)
		os.Exit(1)
	}
}

// side opens a recorder for a server. If sending is false, nothing reads the recorded events.
type side struct {
	name string
	open func(address string, sending bool) (recorder, error)
}

// recorder is one of the compared recorders. Objects are identified by their number.
type recorder interface {
	record(object int, note string)
	// responses returns the number of responses from the server so far.
	responses() int
	close() error
}

var sides = []side{{"tools/events", openNewer}, {"tools/record", openOlder}, {"kinform", openKinform}}

// row describes how events are recorded.
type row struct {
	name    string
	sending bool
	event   func(n int) (object int, note string)
	share   int // divisor of settings.events
	batch   int // number of events before a wait for the server's responses; 0 means no wait
}

const note = "the image was pulled in 2.5 seconds"

var rows = []row{
	{"recorded: the same event", false, func(int) (int, string) { return 0, note }, 1, 0},
	{"recorded: the same, of 1000 objects", false, func(n int) (int, string) { return n % 1000, note }, 1, 0},
	{"recorded: of different objects", false, func(n int) (int, string) { return n, note }, 1, 0},
	// 4,000 events, because kinform's queue has room for 4,096
	{"recorded: the same, none dropped", false, func(n int) (int, string) { return n, note }, 5, 0},
	{"sent: of different objects", true, func(n int) (int, string) { return n, note }, 10, 200},
	{"sent: the same, of 100 objects", true, func(n int) (int, string) { return n % 100, note }, 10, 0},
}

// figure is the cost of an event, with its number of requests.
type figure struct {
	meter.Cost
	requests float64
}

// measure measures a side once.
func (set settings) measure(s side, r row, address string) (f figure, err error) {
	events := max(set.events/r.share, 1)
	open, err := s.open(address, r.sending)
	if err != nil {
		return f, err
	}
	baseline := meter.Start()
	for n := range events {
		open.record(r.event(n))
		switch {
		case r.batch > 0 && (n+1)%r.batch == 0:
			if err = await(open, n+1); err != nil {
				return f, fmt.Errorf("%s, %s: %w", s.name, r.name, err)
			}
		case r.sending && r.batch == 0 && (n+1)%100 == 0:
			time.Sleep(10 * time.Millisecond) // the queues are drained meanwhile
		case (n+1)%500 == 0:
			// even if nothing is sent, client-go's events go through a queue
			time.Sleep(time.Millisecond)
		}
	}
	if r.sending {
		waitUntilQuiet(open)
	}
	if err := open.close(); err != nil { // if the side sends, this sends the waiting events
		return f, fmt.Errorf("%s, %s: %w", s.name, r.name, err)
	}
	return figure{baseline.Per(events), float64(open.responses()) / float64(events)}, nil
}

// await waits until the server has responded to this many requests.
func await(r recorder, requests int) error {
	for begun := time.Now(); r.responses() < requests; time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			return fmt.Errorf("only %[2]d of %[1]d events were sent within a minute", requests, r.responses())
		}
	}
	return nil
}

// waitUntilQuiet waits until no more requests arrive.
func waitUntilQuiet(r recorder) {
	for last, same := -1, 0; same < 10; same++ {
		if now := r.responses(); now != last {
			last, same = now, 0
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func run(set settings, out io.Writer) error {
	heading := report.Heading()
	server, address, err := startServer()
	if err != nil {
		return err
	}
	defer server.stop()
	measured := map[string]map[string][]figure{}
	steps := progress.New("events", set.runs*len(rows)*len(sides))
	for n := range set.runs {
		for _, r := range rows {
			for _, s := range roundorder.Of(n, sides[:2], sides[2]) {
				steps.Next("run %d of %d, %s, %s", n+1, set.runs, r.name, s.name)
				f, err := set.measure(s, r, address)
				if err != nil {
					return err
				}
				if measured[r.name] == nil {
					measured[r.name] = map[string][]figure{}
				}
				measured[r.name][s.name] = append(measured[r.name][s.name], f)
			}
		}
	}
	fmt.Fprintf(out, "EVENTS, what recording one costs the process, %d events, %d runs\n\n%s%-10s %s after\n\n%s", set.events, set.runs, heading, "", report.Load(), table(measured))
	return nil
}

func table(measured map[string]map[string][]figure) report.Table {
	t := report.Table{{"medians, per event", "tools/events", "tools/record", "kinform", "to events", "to record"}}
	for _, r := range rows {
		add := func(what, format string, of func(figure) float64) {
			cells := []string{r.name + ", " + what}
			var medians []float64
			for _, s := range sides {
				var values []float64
				for _, f := range measured[r.name][s.name] {
					values = append(values, of(f))
				}
				medians = append(medians, report.Median(values))
				cells = append(cells, fmt.Sprintf(format, report.Median(values)))
			}
			for _, than := range medians[:2] {
				if than == 0 {
					cells = append(cells, "")
					continue
				}
				cells = append(cells, fmt.Sprintf("%.2f", medians[2]/than))
			}
			t.Add(cells...)
		}
		add("CPU, ns", "%.0f", func(f figure) float64 { return f.CPU })
		add("bytes", "%.0f", func(f figure) float64 { return f.Bytes })
		add("allocations", "%.1f", func(f figure) float64 { return f.Allocations })
		if r.sending {
			add("requests", "%.3f", func(f figure) float64 { return f.requests })
		}
	}
	return slices.Clip(t)
}
