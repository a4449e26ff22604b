package sink

import (
	"errors"

	"github.com/kinform/kinform/listwatch"
)

// Puller is a watch.Interface whose events can be pulled instead of received from ResultChan. If a
// program wraps a watch to change or drop events, the wrapper is not a Puller.
type Puller interface {
	// Pull returns the events, decoded as by package rest of kinform. It applies Known, Held, Bytes
	// and SendInitialEvents of opts. use selects which parts objects share. Neither Pull nor the
	// stream's Next waits for ResultChan. Pull returns nil if the codec of the watch is not
	// supported. The stream's Close stops the watch.
	Pull(opts listwatch.WatchOptions, use Use) listwatch.WatchStream[any]
}

// ErrPush is returned by the first Next of a pulled stream if the program's codec has to decode the
// events. All events then come from ResultChan.
var ErrPush = errors.New("the events of this watch cannot be pulled")
