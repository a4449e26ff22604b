package probe

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/bench/internal/meter"
)

// Report has the resources that the process has used since it began. CPU is that of all threads, user and
// system.
type Report struct {
	CPU                   time.Duration
	Turns                 int64
	Bytes, Allocations    uint64 // allocated so far
	Heap                  uint64 // live bytes; 0 if it was not asked for
	PeakRSS               uint64
	FirstTurn, EachHadOne time.Time // zero until then
}

var (
	profiles   string        // prefix of files
	had        []atomic.Bool // by the number at the end of the name
	turns      atomic.Int64
	different  atomic.Int64
	first, all atomic.Int64 // Unix time in nanoseconds
)

// Attach parses the program's flags and its own, and begins to take orders.
func Attach() {
	expected := flag.Int("expect", 0, "note when this many different objects had a turn")
	flag.StringVar(&profiles, "profile", "", "prefix of the files to write profiles to; none by default")
	flag.Parse()
	had = make([]atomic.Bool, *expected)
	go func() {
		if err := obey(); err != nil {
			fmt.Fprintln(os.Stderr, "probe:", err)
		}
		os.Exit(3) // The driver is gone.
	}()
}

// Turn notes that the object of this name is reconciled.
func Turn(name string) {
	if turns.Add(1) == 1 {
		first.Store(time.Now().UnixNano())
	}
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err == nil && n < len(had) && !had[n].Swap(true) && different.Add(1) == int64(len(had)) {
		all.Store(time.Now().UnixNano())
	}
}

func obey() error {
	answers := json.NewEncoder(os.Stdout)
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		r := now()
		switch order := orders.Text(); order {
		case "report":
		case "heap":
			pprof.StopCPUProfile() // It may not run.
			runtime.GC()
			runtime.GC() // Objects in pools are freed by the second one.
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			r.Heap = stats.HeapAlloc
			if err := heapProfile(); err != nil {
				return err
			}
		case "profile":
			if err := cpuProfile(); err != nil {
				return err
			}
		default:
			return fmt.Errorf("order %q is not known", order)
		}
		if err := answers.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func now() Report {
	r := Report{CPU: meter.CPU(), Turns: turns.Load(), PeakRSS: peakRSS()}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	r.Bytes, r.Allocations = stats.TotalAlloc, stats.Mallocs
	if t := first.Load(); t != 0 {
		r.FirstTurn = time.Unix(0, t)
	}
	if t := all.Load(); t != 0 {
		r.EachHadOne = time.Unix(0, t)
	}
	return r
}

func cpuProfile() error {
	if profiles == "" {
		return nil
	}
	f, err := os.Create(profiles + ".cpu.pprof") // It is closed with the process.
	if err != nil {
		return err
	}
	return pprof.StartCPUProfile(f)
}

func heapProfile() error {
	if profiles == "" {
		return nil
	}
	f, err := os.Create(profiles + ".heap.pprof")
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.WriteHeapProfile(f)
}

// peakRSS reads VmHWM; 0 where the system does not tell. Rusage has a maximum as well, but a
// child inherits that of its parent.
func peakRSS() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			var kilobytes uint64
			_, _ = fmt.Sscan(value, &kilobytes)
			return kilobytes << 10
		}
	}
	return 0
}
