package differential

import (
	"context"
	"time"

	"github.com/kinform/kinform/internal/testing/conformance"
)

// side is one of the informers, with its handlers.
type side struct {
	name     string
	informer conformance.Informer
	strict   bool
	handlers []*handler
	stop     func()
}

// handler is a notificationLog with a function that removes it from the informer. The n-th handlers
// of all sides are added and removed at the same time.
type handler struct {
	*notificationLog
	registration conformance.Registration
	fresh        bool // it was added in this phase
}

func newSide(name string, open conformance.NewInformer, setup conformance.Setup, strict bool) (*side, error) {
	inf, err := open(name, setup)
	return &side{name: name, informer: inf, strict: strict}, err
}

func (s *side) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.informer.Run(ctx)
	}()
	s.stop = func() {
		cancel()
		<-done
	}
}

func (s *side) addHandler(pace time.Duration) error {
	h := &handler{notificationLog: newNotificationLog(s.strict, pace), fresh: true}
	r, err := s.informer.AddHandler(h.handle, 0)
	h.registration = r
	s.handlers = append(s.handlers, h)
	return err
}

func (s *side) removeHandler(n int) {
	s.handlers[n].registration.Remove()
	s.handlers = append(s.handlers[:n:n], s.handlers[n+1:]...)
}
