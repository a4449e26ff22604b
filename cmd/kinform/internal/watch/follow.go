package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/cmd/kinform/internal/terminal"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// follow runs an informer on a source, and prints the events of its handler, until ctx ends. If it
// fails before the first list is complete, and a retry cannot help, follow returns an error. It
// writes failures from which the informer recovers to errOut.
func follow(ctx context.Context, source listwatch.Source[*unstructured.Unstructured], what string, out printer, errOut io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	var inf *informer.Informer[*unstructured.Unstructured]
	inf, err := informer.New(source, informer.Options[*unstructured.Unstructured]{
		Name:   what,
		Logger: slog.New(slog.DiscardHandler), // OnError reports failures; the output may be slow.
		// The user wants to see the objects that can be decoded, so SkipUndecodable is set. OnError
		// reports the others.
		Reflector: reflector.Options{SkipUndecodable: true, OnError: func(e reflector.Error) {
			if !inf.Status().Synced && isPermanent(e) {
				stop(contextError{e.Err})
				return
			}
			printFailure(errOut, e)
		}},
	})
	if err != nil {
		return err
	}
	// With Block, a slow output delays the stream. So events are not merged, and do not accumulate
	// in memory.
	handler, err := inf.AddHandler(func(e informer.Event[*unstructured.Unstructured]) {
		if err := out.print(e); err != nil {
			stop(contextError{finalError{fmt.Errorf("cannot write: %w", err)}})
		}
	}, informer.HandlerOptions{Name: "print", Overflow: informer.Block})
	if err != nil {
		return err
	}

	var waiting sync.WaitGroup
	waiting.Go(func() {
		if handler.WaitForSync(ctx) == nil && inf.Store().Len() == 0 {
			fmt.Fprintf(errOut, "kinform: there are no %s yet: waiting for the first\n", terminal.Text(what))
		}
	})
	err = inf.Run(ctx)
	stop(nil)
	waiting.Wait()
	if failed, ok := errors.AsType[contextError](context.Cause(ctx)); ok {
		return failed.error
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !inf.Status().Synced {
		return finalError{errors.New("the time of --for ended before the first list was complete: give more time")}
	}
	return err
}

// contextError is the cause of a context that ended with an error.
type contextError struct{ error }

// isPermanent reports whether the command gives up after an error of the first list. It does not
// give up after a 429, a 410, or an error of a single object.
func isPermanent(err reflector.Error) bool {
	return !isA[*listwatch.ObjectError](err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsResourceExpired(err)
}

// printFailure writes a line with a failure and the wait that follows.
func printFailure(out io.Writer, err reflector.Error) {
	next := ""
	if err.RetryIn > 0 {
		next = fmt.Sprintf(", next attempt in %v", err.RetryIn.Round(time.Millisecond))
	}
	fmt.Fprintf(out, "kinform: %v failed%s: %v\n", err.Phase, next, terminal.Text(rootCause(err.Err).Error()))
}
