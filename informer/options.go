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

// Options configures an [Informer]. The zero value is ready to use.
type Options[T any] struct {
	// Name identifies the informer in logs and errors, for example "pods". Defaults to the type
	// argument's name.
	Name string

	// Reflector configures listing and watching: pages, back-off, time limits, and OnError, which
	// receives every failed attempt. Its Logger defaults to Logger below, with the informer's name.
	Reflector reflector.Options

	// Queue configures the DeltaFIFO between reflector and store.
	Queue deltafifo.Options

	// Store configures the store, mainly the indexes that exist from the first object on. More can
	// be added at any time, see Informer.AddIndex.
	Store indexer.Options[T]

	// Preload is called by New with the new informer, to fill the store with the objects of an
	// earlier process. See the function [Preload], and the method Preload of a file of package
	// warmstart. As an option, Preload also works for the informers of a [Factory]. An error is
	// logged, and the informer begins with a list. Defaults to nil: the informer begins with a
	// list.
	Preload func(*Informer[T]) error

	// Logger receives failures that no caller can receive, with the informer's name: failed
	// attempts, handler panics, slow handlers. A lasting problem is logged when it begins, every
	// five minutes, and when it is over. Defaults to the value of slog.Default() at New;
	// slog.New(slog.DiscardHandler) logs nothing.
	Logger *slog.Logger

	// Goroutine is called in each goroutine of the informer, with a description of it. The hook
	// must call the function run in the same goroutine, and must not return before run has
	// returned. The hook can set labels for profiles (see informer/profile), or open a span of a
	// trace. ctx is the context of Run, with its labels. The hook adds no cost for each event.
	// Defaults to nil: the informer calls the function itself.
	Goroutine func(ctx context.Context, goroutine Goroutine, run func())

	// Observer receives batches and deliveries. Defaults to nil, which costs one pointer test.
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

// DefaultMailbox is the default limit of a handler's mailbox, in events.
const DefaultMailbox = 1024

// HandlerOptions configures one handler. The zero value is ready to use.
type HandlerOptions struct {
	// Name identifies the handler in logs and status. Defaults to "handler-N".
	Name string

	// Resync is the interval between resyncs: Updated events with cause Resync for every stored
	// object. A resync makes no request, because it is not a relist. Unlike in client-go, a broken
	// watch does not restart the interval. At least a millisecond; defaults to 0, never.
	Resync time.Duration

	// Mailbox is how many events may wait before Overflow applies. Defaults to
	// DefaultMailbox.
	Mailbox int

	// Overflow says what happens when Mailbox events wait and another arrives. Defaults to
	// Coalesce.
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

var errHandlerOptions = errors.New("informer: HandlerOptions: Mailbox must not be negative, Resync must be 0 or at least a millisecond, such as 10*time.Minute, and Overflow must be Coalesce, Block or Unbounded")

func (o HandlerOptions) validate() error {
	if o.Mailbox < 0 || o.Resync < 0 || 0 < o.Resync && o.Resync < time.Millisecond || o.Overflow > Unbounded {
		return errHandlerOptions
	}
	return nil
}
