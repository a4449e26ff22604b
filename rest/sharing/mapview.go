//go:build go1.26 && !go1.27

package sharing

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// The runtime ends a process in which a goroutine reads a map while another one writes to it, and
// recover cannot prevent this. A program that writes to a cached map breaks the contract, but Check
// must not end it. So Check reads through its own copy of the map's header, whose flags show no
// write. mapHeader is the header of Go 1.26. mapview_other.go is for all other versions of Go.

// mapHeader has the layout of internal/runtime/maps.Map.
type mapHeader struct {
	used        uint64
	seed        uintptr
	directory   unsafe.Pointer
	directories int
	flags       uint32 // four bytes: globalDepth, globalShift, writing, tombstonePossible
	clears      uint64
}

func (h *mapHeader) writing() *byte { return &(*[4]byte)(unsafe.Pointer(&h.flags))[2] }

// mapView returns a map with the entries of m, which must not be nil. The result may be read while
// m is being written. Its values are then old, new or mixed. ok is false if a write is in progress
// at the time of the call, because the write may move all entries.
func mapView(m reflect.Value) (entries reflect.Value, ok bool) {
	from := (*mapHeader)(m.UnsafePointer())
	flags := atomic.LoadUint32(&from.flags)
	own := &mapHeader{
		used: atomic.LoadUint64(&from.used), seed: from.seed, directory: atomic.LoadPointer(&from.directory), directories: from.directories,
		flags: flags, clears: from.clears,
	}
	if *own.writing() != 0 || atomic.LoadUint32(&from.flags) != flags || atomic.LoadPointer(&from.directory) != own.directory {
		return reflect.Value{}, false
	}
	at := unsafe.Pointer(own)
	return reflect.NewAt(m.Type(), unsafe.Pointer(&at)).Elem(), true
}
