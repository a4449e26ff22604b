// Package profile gives the goroutines of an informer labels in profiles of the CPU and of
// goroutines: informer, stage ("reflect", "store" or "handle") and, for a handler, handler.
//
//	pods, err := informer.New(source, informer.Options[*corev1.Pod]{Goroutine: profile.Labels})
//
// Then go tool pprof -tagfocus=informer=pods shows what that informer costs, and -tagroot=informer
// divides a program by informers. What a goroutine starts, such as the decoders of a stream, has
// its labels too. Labels are set as a goroutine begins, and cost nothing for an event.
//
// Package controller labels its caches so, and its workers with controller and stage
// ("reconcile"). The package is apart from informer as runtime/pprof has two more packages and
// 20 kB of code, which a small program need not pay.
package profile

import (
	"context"
	"runtime/pprof"

	"github.com/kinform/kinform/informer"
)

// Labels is an informer.Options.Goroutine that sets labels. Labels of the context of Run stay.
func Labels(ctx context.Context, what informer.Goroutine, run func()) {
	labels := []string{"informer", what.Informer, "stage", what.Stage}
	if what.Handler != "" {
		labels = append(labels, "handler", what.Handler)
	}
	pprof.Do(ctx, pprof.Labels(labels...), func(context.Context) { run() })
}
