package sink

import (
	"errors"

	"github.com/kinform/kinform/listwatch"
)

// Puller is a watch.Interface whose events a reflector can pull instead of receiving them from
// ResultChan. If a program wraps a watch to change or drop events, the wrapper is not a Puller.
type Puller interface {
	// Pull returns a stream of the events. Package rest of kinform decodes them, with Known, Held,
	// Bytes and SendInitialEvents of opts. The argument use determines which parts the objects
	// share. Neither Pull nor Next of the stream waits for a reader of ResultChan. Pull returns nil
	// if the codec of the watch is not supported. Close of the stream stops the watch.
	Pull(opts listwatch.WatchOptions, use Use) listwatch.WatchStream[any]
}

// ErrPush is the error of the first Next of a pulled stream if only the program's codec can decode
// the events. Then all events come from ResultChan.
var ErrPush = errors.New("the events of this watch cannot be pulled")
