package cache

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/klog/v2"
)

// minResyncPeriod is the shortest resync period of a handler (SI-22).
const minResyncPeriod = time.Second

// handlers has the handlers of an informer and their resync periods. The informer's mu guards it.
type handlers struct {
	// changed only while applyLock is held too, so a goroutine that holds applyLock may read it
	// without mu
	all                        []*listener
	defaultPeriod, checkPeriod time.Duration
}

// effectivePeriod returns the actual resync period of a handler that has requested this period
// (SI-23, SI-24, SI-25).
func (h *handlers) effectivePeriod(requested time.Duration) time.Duration {
	if requested == 0 || h.checkPeriod == 0 {
		return 0
	}
	return max(requested, h.checkPeriod)
}

func (s *sharedIndexInformer) AddEventHandler(handler ResourceEventHandler) (ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, HandlerOptions{})
}

func (s *sharedIndexInformer) AddEventHandlerWithResyncPeriod(handler ResourceEventHandler, resyncPeriod time.Duration) (ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, HandlerOptions{ResyncPeriod: &resyncPeriod})
}

func (s *sharedIndexInformer) AddEventHandlerWithOptions(handler ResourceEventHandler, options HandlerOptions) (ResourceEventHandlerRegistration, error) {
	logger := klog.Background()
	if options.Logger != nil {
		logger = *options.Logger
	}
	l := newListener(handler, "SharedIndexInformer "+s.description+" + event handler "+handlerName(handler), logger)
	if !s.addHandler(l, options.ResyncPeriod) {
		return nil, fmt.Errorf("handler %v was not added to shared informer because it has stopped already", handler)
	}
	return l, nil
}

// addHandler adds a handler between two changes, unless the informer has stopped.
func (s *sharedIndexInformer) addHandler(l *listener, period *time.Duration) bool {
	s.addRemoveLock.Lock()
	defer s.addRemoveLock.Unlock()
	s.applyLock.Lock()
	defer s.applyLock.Unlock()
	run, ok := s.register(l, period)
	if !ok || run == nil { // before the start: Run will start the handler
		return ok
	}
	objs := s.indexer.List()
	first := make([]notification, len(objs))
	for i, obj := range objs {
		first[i] = notification{kind: onAdd, now: obj, initial: true}
	}
	l.enqueue(first, first)
	if s.isSynced {
		l.upstreamSynced()
	}
	l.start(run)
	return true
}

// register adds a handler to the handlers that are notified, unless the informer has stopped. The
// result run is nil if the informer has not started. The caller holds applyLock.
func (s *sharedIndexInformer) register(l *listener, period *time.Duration) (run context.Context, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, false
	}
	l.requestedPeriod = s.handlers.defaultPeriod
	if period != nil {
		l.requestedPeriod = *period
	}
	if l.requestedPeriod > 0 {
		if l.requestedPeriod < minResyncPeriod {
			l.logger.Info("Warning: resync period is too small, it is raised", "resyncPeriod", l.requestedPeriod, "minimum", minResyncPeriod)
			l.requestedPeriod = minResyncPeriod
		}
		switch h := &s.handlers; {
		case l.requestedPeriod >= h.checkPeriod:
		case s.started:
			l.logger.Info("Warning: resync period is smaller than that of the informer, which has started; it is raised", "resyncPeriod", l.requestedPeriod, "minimum", h.checkPeriod)
		default:
			h.checkPeriod = l.requestedPeriod
			for _, other := range h.all {
				other.setPeriod(h.effectivePeriod(other.requestedPeriod))
			}
		}
	}
	l.setPeriod(s.handlers.effectivePeriod(l.requestedPeriod))
	s.handlers.all = append(slices.Clip(s.handlers.all), l)
	return s.run, true
}

func (s *sharedIndexInformer) RemoveEventHandler(handle ResourceEventHandlerRegistration) error {
	l, ok := handle.(*listener)
	if !ok {
		return fmt.Errorf("invalid registration %T: it is none of AddEventHandler", handle)
	}
	s.addRemoveLock.Lock()
	defer s.addRemoveLock.Unlock()
	s.applyLock.Lock()
	defer s.applyLock.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped { // Run will wait for the handler
		return nil
	}
	i := slices.Index(s.handlers.all, l)
	if i < 0 {
		return nil
	}
	s.handlers.all = slices.Delete(slices.Clone(s.handlers.all), i, i+1)
	l.stop()
	if s.started {
		s.removed = append(slices.DeleteFunc(s.removed, (*listener).hasEnded), l)
	}
	return nil
}

// ShutDownEventHandler removes a handler and waits until no call of the handler is in progress. A
// handler must not call ShutDownEventHandler for itself: the call would never return.
func ShutDownEventHandler(informer SharedInformer, handle ResourceEventHandlerRegistration) error {
	if err := informer.RemoveEventHandler(handle); err != nil {
		return err
	}
	if l, ok := handle.(interface{ ShutdownChan() <-chan struct{} }); ok {
		<-l.ShutdownChan()
	}
	return nil
}

// resyncDue finds the handlers whose resync is due, and reports whether there is at least one
// (SI-26). Until the next call, their mailboxes also accept notifications of unchanged objects.
func (s *sharedIndexInformer) resyncDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, due := time.Now(), false
	for _, l := range s.handlers.all {
		if l.due(now) {
			due = true
		}
	}
	return due
}

// notifyHandlers puts notifications into the mailboxes of all handlers. Only handlers whose resync
// is due get the notifications of unchanged objects (SI-12, SI-13). The caller holds applyLock.
func (s *sharedIndexInformer) notifyHandlers(notifications []notification) {
	changes := notifications
	if slices.ContainsFunc(notifications, notification.isUnchanged) {
		changes = slices.DeleteFunc(slices.Clone(notifications), notification.isUnchanged)
	}
	for _, l := range s.handlers.all {
		l.enqueue(notifications, changes)
	}
}
