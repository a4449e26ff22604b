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

// Report has the resources that the process has used since its start. CPU covers all threads, user
// and system.
type Report struct {
	CPU                           time.Duration
	Reconciles                    int64
	Bytes, Allocations            uint64 // allocated so far
	Heap                          uint64 // live bytes; 0 if not requested
	PeakRSS                       uint64
	FirstReconcile, AllReconciled time.Time // zero until then
}

var (
	profiles   string        // prefix of file names
	reconciled []atomic.Bool // by the number at the end of the object's name
	reconciles atomic.Int64
	distinct   atomic.Int64
	first, all atomic.Int64 // Unix time in nanoseconds
)

// Attach parses the program's flags and the probe's own flags, and starts to execute commands.
func Attach() {
	expected := flag.Int("expect", 0, "note when this many different objects have been reconciled")
	flag.StringVar(&profiles, "profile", "", "prefix of the files to write profiles to; none by default")
	flag.Parse()
	reconciled = make([]atomic.Bool, *expected)
	go func() {
		if err := runCommands(); err != nil {
			fmt.Fprintln(os.Stderr, "probe:", err)
		}
		os.Exit(3) // the driver has exited
	}()
}

// CountReconcile records that the object of this name is reconciled.
func CountReconcile(name string) {
	if reconciles.Add(1) == 1 {
		first.Store(time.Now().UnixNano())
	}
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err == nil && n < len(reconciled) && !reconciled[n].Swap(true) && distinct.Add(1) == int64(len(reconciled)) {
		all.Store(time.Now().UnixNano())
	}
}

func runCommands() error {
	reports := json.NewEncoder(os.Stdout)
	for commands := bufio.NewScanner(os.Stdin); commands.Scan(); {
		r := now()
		switch order := commands.Text(); order {
		case "report":
		case "heap":
			pprof.StopCPUProfile() // in case a profile is running
			runtime.GC()
			runtime.GC() // the second collection frees objects in pools
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
			return fmt.Errorf("unknown command %q", order)
		}
		if err := reports.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func now() Report {
	r := Report{CPU: meter.CPU(), Reconciles: reconciles.Load(), PeakRSS: peakRSS()}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	r.Bytes, r.Allocations = stats.TotalAlloc, stats.Mallocs
	if t := first.Load(); t != 0 {
		r.FirstReconcile = time.Unix(0, t)
	}
	if t := all.Load(); t != 0 {
		r.AllReconciled = time.Unix(0, t)
	}
	return r
}

func cpuProfile() error {
	if profiles == "" {
		return nil
	}
	f, err := os.Create(profiles + ".cpu.pprof") // closed at exit
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

// peakRSS reads VmHWM, or returns 0 if the system does not provide it. Rusage also has a maximum,
// but a child process inherits its parent's.
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
