//go:build !race && go1.26 && !go1.27

package sharing

import (
	"reflect"
	"runtime"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestTornStringDoesNotCrash: a reader of a string that is being written may get the new length
// with the old bytes, or without bytes.
func TestTornStringDoesNotCrash(t *testing.T) {
	for _, address := range []uintptr{0, 1 << 30} {
		half := struct{ bytes, length uintptr }{address, 4}
		text := *(*string)(unsafe.Pointer(&half))
		require.False(t, catchFault(func() { excerpt(reflect.ValueOf(&text)) }))
		require.False(t, catchFault(func() { unchanged(reflect.ValueOf("kept"), reflect.ValueOf(text)) }))
	}
	require.True(t, catchFault(func() {}))
	require.PanicsWithValue(t, "a mistake", func() { catchFault(func() { panic("a mistake") }) })
}

// TestMapViewDuringConcurrentWrites reads a map while another goroutine fills and empties it, so
// that it grows from one group to many tables.
func TestMapViewDuringConcurrentWrites(t *testing.T) {
	m, stop, written := map[string]string{"kept": "value"}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for k := range 5000 {
				m[strconv.Itoa(k)] = "x"
			}
			for k := range 5000 {
				delete(m, strconv.Itoa(k))
			}
			m["kept"] = "value"
			runtime.Gosched() // a moment without writes
		}
	}()
	looks, found, before := 0, 0, reflect.ValueOf(map[string]string{"kept": "value"})
	for i := 0; i < 50_000 || looks == 0 || found == 0; i++ {
		catchFault(func() {
			unchanged(before, reflect.ValueOf(m))
			if entries, ok := mapView(reflect.ValueOf(m)); ok {
				looks++
				if v := entries.MapIndex(reflect.ValueOf("kept")); v.IsValid() && v.String() == "value" {
					found++
				}
				excerpt(entries)
			}
		})
	}
	close(stop)
	<-written
	t.Logf("%d looks, of which %d found the entry", looks, found)
	entries, ok := mapView(reflect.ValueOf(m))
	require.True(t, ok)
	require.Equal(t, m, entries.Interface())
}
