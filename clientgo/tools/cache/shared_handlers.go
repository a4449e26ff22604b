package cache

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/klog/v2"
)

// minResyncPeriod is the shortest period of a handler (SI-22).
const minResyncPeriod = time.Second

// handlers are those of an informer, and their resync periods. The informer's mu guards it.
type handlers struct {
	all                        []*listener
	defaultPeriod, checkPeriod time.Duration
}

// effective is the period of a handler that has asked for this one (SI-23, SI-24, SI-25).
func (h *handlers) effective(asked time.Duration) time.Duration {
	if asked == 0 || h.checkPeriod == 0 {
		return 0
	}
	return max(asked, h.checkPeriod)
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
	s.applying.Lock()
	defer s.applying.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, fmt.Errorf("handler %v was not added to shared informer because it has stopped already", handler)
	}
	asked := s.handlers.defaultPeriod
	if options.ResyncPeriod != nil {
		asked = *options.ResyncPeriod
	}
	if asked > 0 {
		if asked < minResyncPeriod {
			logger.Info("Warning: resync period is too small, it is raised", "resyncPeriod", asked, "minimum", minResyncPeriod)
			asked = minResyncPeriod
		}
		switch h := &s.handlers; {
		case asked >= h.checkPeriod:
		case s.started:
			logger.Info("Warning: resync period is smaller than that of the informer, which has started; it is raised", "resyncPeriod", asked, "minimum", h.checkPeriod)
		default:
			h.checkPeriod = asked
			for _, l := range h.all {
				l.setPeriod(h.effective(l.asked))
			}
		}
	}
	l := newListener(handler, asked, "SharedIndexInformer "+s.about+" + event handler "+handlerName(handler))
	l.setPeriod(s.handlers.effective(asked))
	s.handlers.all = append(slices.Clip(s.handlers.all), l)
	if !s.started {
		return l, nil
	}
	objs := s.indexer.List()
	first := make([]notification, len(objs))
	for i, obj := range objs {
		first[i] = notification{kind: onAdd, now: obj, initial: true}
	}
	l.put(first)
	if s.isSynced {
		l.upstreamSynced()
	}
	l.start(s.run)
	return l, nil
}

// handlerName says which handler it is, in logs.
func handlerName(handler ResourceEventHandler) string { return fmt.Sprintf("%T", handler) }

func (s *sharedIndexInformer) RemoveEventHandler(handle ResourceEventHandlerRegistration) error {
	l, ok := handle.(*listener)
	if !ok {
		return fmt.Errorf("invalid registration %T: it is none of AddEventHandler", handle)
	}
	s.applying.Lock()
	defer s.applying.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped { // Run waits for all handlers
		return nil
	}
	i := slices.Index(s.handlers.all, l)
	if i < 0 {
		return nil
	}
	s.handlers.all = slices.Delete(slices.Clone(s.handlers.all), i, i+1)
	l.stop()
	if s.started {
		s.leaving = append(slices.DeleteFunc(s.leaving, (*listener).hasEnded), l)
	}
	return nil
}

// ShutDownEventHandler removes a handler and waits until no call of it is in progress. A handler must not call it for
// itself: it would wait for ever.
func ShutDownEventHandler(informer SharedInformer, handle ResourceEventHandlerRegistration) error {
	if err := informer.RemoveEventHandler(handle); err != nil {
		return err
	}
	if l, ok := handle.(interface{ ShutdownChan() <-chan struct{} }); ok {
		<-l.ShutdownChan()
	}
	return nil
}

// resyncDue marks the handlers whose resync period is over, and says whether there is one (SI-26).
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

// tell puts notifications into the mailboxes. Those about objects that have not changed go to the handlers whose resync
// is due only (SI-12, SI-13). The caller holds applying.
func (s *sharedIndexInformer) tell(notes []notification) {
	if len(notes) == 0 {
		return
	}
	s.mu.Lock()
	all := s.handlers.all
	s.mu.Unlock()
	var changes []notification
	split := false
	for _, l := range all {
		if l.isSyncing() {
			l.put(notes)
			continue
		}
		if !split {
			split = true
			changes = slices.DeleteFunc(slices.Clone(notes), func(n notification) bool { return n.same })
		}
		l.put(changes)
	}
}
