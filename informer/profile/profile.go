// Package profile labels the goroutines of an informer in CPU and goroutine profiles: informer,
// stage ("reflect", "store" or "handle") and, for a handler, handler.
//
//	pods, err := informer.New(source, informer.Options[*corev1.Pod]{Goroutine: profile.Labels})
//
// Then go tool pprof -tagfocus=informer=pods shows the cost of that informer, and -tagroot=informer
// divides a program by informer. Goroutines that a labelled goroutine starts, such as a stream's
// decoders, have its labels too. Labels are set when a goroutine begins, and cost nothing for each
// event.
//
// Package controller labels its caches in this way, and its workers with controller and stage
// ("reconcile"). This is a package of its own because runtime/pprof adds two packages and 20 kB of
// code, which a small program can avoid.
package profile

import (
	"context"
	"runtime/pprof"

	"github.com/kinform/kinform/informer"
)

// Labels is an informer.Options.Goroutine hook that sets labels. It keeps the labels of Run's
// context.
func Labels(ctx context.Context, goroutine informer.Goroutine, run func()) {
	labels := []string{"informer", goroutine.Informer, "stage", goroutine.Stage}
	if goroutine.Handler != "" {
		labels = append(labels, "handler", goroutine.Handler)
	}
	pprof.Do(ctx, pprof.Labels(labels...), func(context.Context) { run() })
}
