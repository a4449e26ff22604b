package informer

import "context"

// Goroutine describes a goroutine of an informer.
type Goroutine struct {
	// Informer is the Name of the informer.
	Informer string

	// Stage is "reflect" for the goroutine that lists and watches, "store" for the goroutine that
	// stores changes (the caller of Run), and "handle" for the goroutine of a handler.
	Stage string

	// Handler is the Name of the handler, "" for the other stages.
	Handler string
}

// runStage runs a stage of the informer in the current goroutine, inside the Goroutine hook.
func (i *Informer[T]) runStage(ctx context.Context, stage, handler string, run func()) {
	if i.opts.Goroutine == nil {
		run()
		return
	}
	ran := false
	once := func() {
		if !ran {
			ran = true
			run()
		}
	}
	i.opts.Goroutine(ctx, Goroutine{Informer: i.opts.Name, Stage: stage, Handler: handler}, once)
	once() // If the hook did not call the function, the stage runs outside the hook.
}

// startHandlerLocked starts the goroutine of a handler.
func (i *Informer[T]) startHandlerLocked(r *Registration[T]) { i.startHandler(i.running, r, true) }

// startHandler starts the goroutine of a handler. If the handler ends its goroutine by
// runtime.Goexit, a new goroutine replaces it. If the hook ended the goroutine before it called the
// stage's function, the replacements start without the hook.
func (i *Informer[T]) startHandler(ctx context.Context, r *Registration[T], useHook bool) {
	i.handlers.Go(func() {
		began := false
		defer func() {
			if r.ended {
				return
			}
			if !began {
				i.opts.Logger.Error("Options.Goroutine ended the goroutine of a handler, and is not called for this handler again",
					"informer", i.opts.Name, "handler", r.opts.Name)
			}
			i.startHandler(ctx, r, useHook && began)
		}()
		run := func() {
			began = true
			r.run()
		}
		if !useHook {
			run()
			return
		}
		i.runStage(ctx, "handle", r.opts.Name, run)
	})
}
