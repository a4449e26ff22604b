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

// follow runs an informer on a source and prints what its handler is told, until
// ctx ends, or it turns out before the first list is complete that there is
// nothing to be had. What an informer recovers from is told on errOut.
func follow(ctx context.Context, source listwatch.Source[*unstructured.Unstructured], what string, out printer, errOut io.Writer) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)

	var inf *informer.Informer[*unstructured.Unstructured]
	inf, err := informer.New(source, informer.Options[*unstructured.Unstructured]{
		Name:   what,
		Logger: slog.New(slog.DiscardHandler), // What fails is told, for people; and who reads the output may pause.
		// Who looks wants to see what there is. What cannot be read is told.
		Reflector: reflector.Options{SkipUnreadable: true, OnError: func(e reflector.Error) {
			if !inf.Status().Synced && hopeless(e) {
				giveUp(failure{e.Err})
				return
			}
			tell(errOut, e)
		}},
	})
	if err != nil {
		return err
	}
	// Block holds up the stream where the output is slow, so that nothing is merged
	// and nothing piles up.
	handler, err := inf.AddHandler(func(e informer.Event[*unstructured.Unstructured]) {
		if err := out.print(e); err != nil {
			giveUp(failure{complete{fmt.Errorf("cannot write: %w", err)}})
		}
	}, informer.HandlerOptions{Name: "print", Overflow: informer.Block})
	if err != nil {
		return err
	}

	var noting sync.WaitGroup
	noting.Go(func() {
		if handler.WaitForSync(ctx) == nil && inf.Store().Len() == 0 {
			fmt.Fprintf(errOut, "kinform: there are no %s yet: waiting for the first\n", terminal.Text(what))
		}
	})
	err = inf.Run(ctx)
	giveUp(nil)
	noting.Wait()
	if failed, ok := errors.AsType[failure](context.Cause(ctx)); ok {
		return failed.error
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && !inf.Status().Synced {
		return complete{errors.New("the time was over before the first list was complete: give it more with --for")}
	}
	return err
}

// failure is the cause of a context's end where it is no regular one.
type failure struct{ error }

// hopeless says that an error of the first list will not go away by waiting, or
// that a person who waits at a terminal would rather know.
func hopeless(err reflector.Error) bool {
	return !isA[*listwatch.ObjectError](err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsResourceExpired(err)
}

// tell writes what went wrong and what follows, in one line.
func tell(out io.Writer, err reflector.Error) {
	next := ""
	if err.RetryIn > 0 {
		next = fmt.Sprintf(", next attempt in %v", err.RetryIn.Round(time.Millisecond))
	}
	fmt.Fprintf(out, "kinform: %v failed%s: %v\n", err.Phase, next, terminal.Text(reason(err.Err).Error()))
}
