package sink

import (
	"errors"

	"github.com/kinform/kinform/listwatch"
)

// Puller is a watch.Interface whose events can be pulled, instead of being taken from ResultChan. A program that has changed or
// left out events of a watch has put something around it, which is no Puller.
type Puller interface {
	// Pull returns the events, which are decoded as package rest of kinform does it: Known, Held, Bytes and
	// SendInitialEvents of opts count. use says what objects may share. Neither Pull nor the stream's Next waits for ResultChan. Pull returns nil if the
	// watch has a codec that is not known. The stream's Close stops the watch.
	Pull(opts listwatch.WatchOptions, use Use) listwatch.WatchStream[any]
}

// ErrPush is the error of the first Next of a pulled stream if the program's codec has to decode it: all events come from
// ResultChan.
var ErrPush = errors.New("the events of this watch cannot be pulled")
