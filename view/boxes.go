package view

import (
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/workqueue"
)

// boxes are the boxes of the picture, from left to right. The picture resembles the familiar one of
// client-go's sample-controller.
var boxes = []BoxInfo{
	{"server", "API server", "has the objects, and a log of their changes. It serves lists, and watches that begin at a version."},
	{"reflector", "Reflector", "lists once, then watches, and lists again when the watch cannot continue."},
	{"fifo", "DeltaFIFO", "holds the changes of each object, in order, until the informer takes all of them."},
	{"store", "Store and indexes", "holds the objects that the informer has received. Handlers and workers read from the store."},
	{"handlers", "Handlers", "are called for each change. Each handler has its own mailbox. Most handlers put keys into a queue."},
	{"queue", "Workqueue", "holds each key once, however often the key is added, and never gives a key to two workers at once."},
	{"workers", "Workers", "take keys, look the objects up in the store, and do the work."},
}

// snapshot holds the data that the numbers of a box are computed from.
type snapshot struct {
	informer informer.Status
	queue    workqueue.Stats
	limits   workqueue.Limits
	server   Server
	traffic  traffic // of all clients
	rec      *recorder
	behind   *behind
	size     func() (float64, bool) // size of the store
	now      int64                  // nanoseconds since the start
}

// reading is a number of the page, and the function that computes it: the function times for a
// number of kind "time", and otherwise the function read.
type reading struct {
	Number
	read  func(s *snapshot) (value float64, known bool)
	times func(r *recorder) []*histogram
}

type table []reading

func (t *table) gauge(box, id, label, unit, help string, read func(s *snapshot) float64) {
	t.maybe(box, id, label, unit, help, func(s *snapshot) (float64, bool) { return read(s), true })
}

func (t *table) maybe(box, id, label, unit, help string, read func(s *snapshot) (float64, bool)) {
	*t = append(*t, reading{Number: Number{box, id, label, help, "gauge", unit}, read: read})
}

func (t *table) counter(box, id, label, help string, read func(s *snapshot) uint64) {
	t.maybeCounter(box, id, label, "", help, func(s *snapshot) (float64, bool) { return float64(read(s)), true })
}

func (t *table) maybeCounter(box, id, label, unit, help string, read func(s *snapshot) (float64, bool)) {
	*t = append(*t, reading{Number: Number{box, id, label, help, "counter", unit}, read: read})
}

func (t *table) time(box, id, label, help string, of func(r *recorder) []*histogram) {
	*t = append(*t, reading{Number: Number{box, id, label, help, "time", "s"}, times: of})
}

// numbers are all numbers of the page, in display order.
var numbers = func() (t table) {
	serverNumbers(&t)
	reflectorNumbers(&t)
	fifoNumbers(&t)
	storeNumbers(&t)
	handlersNumbers(&t)
	queueNumbers(&t)
	workersNumbers(&t)
	return t
}()

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
