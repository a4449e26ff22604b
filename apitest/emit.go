package apitest

import (
	"encoding/binary"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// send buffers an event, after applying the faults of the watch to it. It returns false if the
// watch has ended.
func (w *watcher) send(eventType string, rev *storage.Revision) bool {
	times := 1
	if w.effects.duplicate {
		times = 2
	}
	if w.effects.undecodable == w.sent+1 && !w.format.Table {
		// the cells of a table need a decodable object
		rev = rev.Undecodable()
	}
	for range times {
		before := len(w.buf)
		w.buf = w.format.AppendEvent(w.buf, eventType, rev)
		w.format.NoHeadings = true
		for _, i := range w.effects.interrupts {
			if i.atNext != nil && i.after == w.sent {
				event := w.buf[before:]
				w.buf = w.buf[:before:before]
				i.atNext(w, event)
				return false
			}
		}
	}
	w.sent++
	if len(w.buf) >= wire.FlushSize {
		w.write()
	}
	return !w.interrupted()
}

// interrupted reports whether a fault has ended the watch between two events.
func (w *watcher) interrupted() bool {
	for _, i := range w.effects.interrupts {
		if i.afterLast != nil && i.after == w.sent {
			w.flush()
			i.afterLast(w)
			return true
		}
	}
	return false
}

// sendHuge sends an event of about this size, filled with one repeated letter, until the client
// stops reading.
func (w *watcher) sendHuge(size int64) {
	if w.format.Protobuf {
		w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(min(size, math.MaxUint32)))
		w.buf = binary.AppendUvarint(append(wire.AppendProtoString(w.buf, 0x0a, "ADDED"), 0x12), uint64(size))
	} else {
		w.buf = append(w.buf, `{"type":"ADDED","object":{"filler":"`...)
	}
	w.flush()
	filler := make([]byte, wire.FlushSize)
	for i := range filler {
		filler[i] = 'x'
	}
	for ; size > 0; size -= int64(len(filler)) {
		if _, err := w.out.Write(filler[:min(size, int64(len(filler)))]); err != nil {
			return
		}
	}
	w.flush()
}

// bookmark buffers a bookmark. A bookmark means that all changes up to its version have been sent.
// If the version is in the future, no bookmark is sent, as on the real server.
func (w *watcher) bookmark(endsInitial bool) {
	if w.version > w.srv.store.Current() {
		return
	}
	obj := w.res.New()
	if endsInitial {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	rev, err := storage.NewRevision(w.res, obj, w.version)
	if err != nil {
		panic("apitest: " + err.Error()) // cannot fail for an empty object
	}
	w.buf = w.format.AppendEvent(w.buf, "BOOKMARK", rev)
	w.format.NoHeadings = true
}

// fail sends an ERROR event with the reason why the watch ends.
func (w *watcher) fail(err error) {
	w.buf = w.format.AppendError(w.buf, wire.StatusOf(err))
	w.flush()
}

// write passes the buffered events to the response.
func (w *watcher) write() {
	if len(w.buf) > 0 {
		// If the client is gone, the request's context ends.
		_, _ = w.out.Write(w.buf)
		w.buf = w.buf[:0]
	}
}

// flush writes the buffered events and flushes the connection.
func (w *watcher) flush() {
	w.write()
	_ = w.conn.Flush()
}
