package watch

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
	"github.com/spf13/cobra"
)

// errTimeOver ends a watch that was to last only so long.
var errTimeOver = errors.New("the time is over")

// follow runs an informer on the resource and prints what its handler is told,
// until the context ends, the time is over, or it turns out before the first
// list that there is nothing to be had.
func (o options) follow(cmd *cobra.Command, client *rest.Client, resource discovery.Resource) error {
	out, err := newPrinter(o.output, cmd.OutOrStdout(), resource.Namespaced)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	if o.duration > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.duration, errTimeOver)
		defer stop()
	}

	var inf *informer.Informer[*unstructured.Unstructured]
	source := rest.NewJSONResource[*unstructured.Unstructured](client, resource.GVR(), rest.ResourceOptions{
		Namespace: o.namespace, LabelSelector: o.labels, FieldSelector: o.fields,
	})
	inf, err = informer.New(source, informer.Options[*unstructured.Unstructured]{
		Name: resource.String(),
		Reflector: reflector.Options{OnError: func(e reflector.Error) {
			if !inf.Status().Synced && hopeless(e) {
				cancel(e.Err)
				return
			}
			tell(cmd.ErrOrStderr(), e)
		}},
	})
	if err != nil {
		return err
	}
	_, err = inf.AddHandler(func(e informer.Event[*unstructured.Unstructured]) {
		if err := out.print(e); err != nil {
			cancel(fmt.Errorf("cannot write: %w", err))
		}
	}, informer.HandlerOptions{Name: "print", Overflow: informer.Block})
	if err != nil {
		return err
	}
	if err := inf.Run(ctx); err != nil {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(cause, errTimeOver) && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// hopeless says that an error of the first list will not go away by waiting, or
// that a person who waits at a terminal would rather know.
func hopeless(err reflector.Error) bool {
	var object *listwatch.ObjectError
	return !errors.As(err, &object) && !apierrors.IsTooManyRequests(err) && !apierrors.IsResourceExpired(err)
}

// tell writes what went wrong and what follows, in one line.
func tell(out io.Writer, err reflector.Error) {
	fmt.Fprintln(out, "kinform:", err)
}
