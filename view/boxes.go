package view

import (
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/workqueue"
)

// boxes are the boxes of the picture, from left to right. The picture resembles the well-known
// diagram of client-go's sample-controller.
var boxes = []BoxInfo{
	{"server", "API server", "has the objects, and a log of their changes. It serves lists, and watches that begin at a version."},
	{"reflector", "Reflector", "lists once, then watches, and lists again when the watch cannot continue."},
	{"fifo", "DeltaFIFO", "holds the changes of each object, in order, until the informer takes all of them."},
	{"store", "Store and indexes", "holds the objects that the informer has received. Handlers and workers read from the store."},
	{"handlers", "Handlers", "are called for each change. Each handler has its own mailbox. Most handlers put keys into a queue."},
	{"queue", "Workqueue", "holds each key once, however often the key is added, and never gives a key to two workers at once."},
	{"workers", "Workers", "take keys, look the objects up in the store, and do the work."},
}

// boxData holds the data from which the numbers of a box are computed.
type boxData struct {
	informer informer.Status
	queue    workqueue.Stats
	limits   workqueue.Limits
	server   Server
	traffic  traffic // of all clients of the program
	rec      *recorder
	lag      *lagTracker
	size     func() (float64, bool) // size of the store
	now      int64                  // nanoseconds since the start
}

// numberSource is a number of the page, and the function that computes it. For a number of kind
// "time", the function is histograms; otherwise it is value.
type numberSource struct {
	Number
	value      func(s *boxData) (value float64, known bool)
	histograms func(r *recorder) []*histogram
}

type numberTable []numberSource

func (t *numberTable) gauge(box, id, label, unit, help string, read func(s *boxData) float64) {
	t.optionalGauge(box, id, label, unit, help, func(s *boxData) (float64, bool) { return read(s), true })
}

func (t *numberTable) optionalGauge(box, id, label, unit, help string, read func(s *boxData) (float64, bool)) {
	*t = append(*t, numberSource{Number: Number{box, id, label, help, "gauge", unit}, value: read})
}

func (t *numberTable) counter(box, id, label, help string, read func(s *boxData) uint64) {
	t.optionalCounter(box, id, label, "", help, func(s *boxData) (float64, bool) { return float64(read(s)), true })
}

func (t *numberTable) optionalCounter(box, id, label, unit, help string, read func(s *boxData) (float64, bool)) {
	*t = append(*t, numberSource{Number: Number{box, id, label, help, "counter", unit}, value: read})
}

func (t *numberTable) time(box, id, label, help string, of func(r *recorder) []*histogram) {
	*t = append(*t, numberSource{Number: Number{box, id, label, help, "time", "s"}, histograms: of})
}

// numbers are all numbers of the page, in display order.
var numbers = func() (t numberTable) {
	serverNumbers(&t)
	reflectorNumbers(&t)
	fifoNumbers(&t)
	storeNumbers(&t)
	handlersNumbers(&t)
	queueNumbers(&t)
	workersNumbers(&t)
	return t
}()

func boolNumber(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
