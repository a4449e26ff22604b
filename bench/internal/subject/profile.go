package subject

import (
	"os"
	"runtime"
	"runtime/pprof"
)

// profiler writes profiles to files with this prefix; "" writes none.
type profiler string

// cpu writes a CPU profile until the returned function is called.
func (p profiler) cpu(phase string) (stop func() error, err error) {
	if p == "" {
		return func() error { return nil }, nil
	}
	f, err := p.create(phase + ".cpu")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// heap writes a profile of allocated and live objects. The profile describes the last garbage
// collection.
func (p profiler) heap(phase string) error {
	if p == "" {
		return nil
	}
	runtime.GC()
	f, err := p.create(phase + ".heap")
	if err != nil {
		return err
	}
	if err := pprof.WriteHeapProfile(f); err != nil {
		return err
	}
	return f.Close()
}

func (p profiler) create(name string) (*os.File, error) {
	return os.Create(string(p) + "." + name + ".pprof")
}
