package informer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/reflector"
)

// Options are the choices of an [Informer]. The zero value is ready to use.
type Options[T any] struct {
	// Name says in logs and errors which informer speaks, for example "pods".
	// Defaults to the type argument's name.
	Name string

	// Reflector has the choices of listing and watching: pages, back-off, time
	// limits, and OnError, which hears of every failed attempt. Its Logger defaults
	// to the one below, with the informer's name.
	Reflector reflector.Options

	// Queue has the choices of the DeltaFIFO between reflector and store.
	Queue deltafifo.Options

	// Store has the choices of the store, above all its indexes from the first
	// object on. More can be added at any time, see Informer.AddIndex.
	Store indexer.Options[T]

	// Preload is called by New with the informer that it has made, to fill the store
	// with what an earlier process knew: see the function [Preload], and the method
	// Preload of a file of package warmstart. So informers of a [Factory] start warm,
	// too. An error is logged, and the informer begins with a list. Defaults to nil:
	// it begins with a list.
	Preload func(*Informer[T]) error

	// Logger gets what has no caller to be returned to, with the informer's name:
	// failed attempts, handler panics, slow handlers. A trouble that lasts is logged when it begins,
	// every five minutes, and when it is over. Defaults to slog.Default(), as it is at
	// New; slog.New(slog.DiscardHandler) logs nothing.
	Logger *slog.Logger

	// Goroutine is called in each goroutine of the informer, with what that is for, and must
	// call run, in the same goroutine, and return after it: so goroutines can have labels
	// in profiles, see informer/profile, or a place in a trace of the program. ctx is that of
	// Run, with its labels. It costs nothing for an event. Defaults to nil: run is called.
	Goroutine func(ctx context.Context, what Goroutine, run func())

	// Observer hears of batches and deliveries. Defaults to nil, which costs one
	// pointer test.
	Observer *Observer
}

func (o Options[T]) withDefaults() Options[T] {
	if o.Name == "" {
		o.Name = fmt.Sprintf("%T", *new(T))
		if o.Name == "<nil>" {
			o.Name = "unnamed"
		}
	}
	o.Logger = contain.Logger(o.Logger)
	if o.Reflector.Logger == nil {
		o.Reflector.Logger = o.Logger.With("informer", o.Name)
	}
	return o
}

// DefaultMailbox is the limit of a handler's mailbox, in events, where
// HandlerOptions does not say otherwise.
const DefaultMailbox = 1024

// HandlerOptions are the choices of one handler. The zero value is ready to use.
type HandlerOptions struct {
	// Name says in logs and status which handler is meant. Defaults to "handler-N".
	Name string

	// Resync asks for an Updated event with cause Resync for every stored object,
	// each time this long after the last. It costs no request: a resync is not a
	// relist. Unlike client-go's it keeps its time when the watch breaks. At least a
	// millisecond; defaults to 0, never.
	Resync time.Duration

	// Mailbox is how many events may wait before Overflow applies. Defaults to
	// DefaultMailbox.
	Mailbox int

	// Overflow is what happens beyond that. Defaults to Coalesce.
	Overflow Overflow
}

func (o HandlerOptions) withDefaults(number int) HandlerOptions {
	if o.Name == "" {
		o.Name = fmt.Sprintf("handler-%d", number)
	}
	if o.Mailbox == 0 {
		o.Mailbox = DefaultMailbox
	}
	return o
}

var errHandlerOptions = errors.New("informer: HandlerOptions: Mailbox and Resync must not be negative, Resync is a duration, such as 10*time.Minute, of a millisecond at least, and Overflow is Coalesce, Block or Unbounded")

func (o HandlerOptions) validate() error {
	if o.Mailbox < 0 || o.Resync < 0 || 0 < o.Resync && o.Resync < time.Millisecond || o.Overflow > Unbounded {
		return errHandlerOptions
	}
	return nil
}
