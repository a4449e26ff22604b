package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Factory lets the parts of a program share informers without knowing of each
// other: there is one for each [Selection] and Go type, which starts when the first
// user acquires it and stops when the last releases it. A later user gets a new
// one. The zero Factory is ready to use; all methods are safe for concurrent use.
//
//	var factory informer.Factory
//	pods, err := informer.Acquire(&factory, informer.Selection{Resource: podsGVR}, open, options)
//	...
//	err = factory.Run(ctx)
//
// # Resources that do not exist yet
//
// A custom resource may be acquired before there is its definition: its informer
// waits, which Status tells, and asks again with the back-off of its reflector. If
// the program may watch definitions, it need not wait for that:
//
//	definitions.AddHandler(func(e informer.Event[*metav1.PartialObjectMetadata]) {
//		if e.Type != informer.Deleted {
//			factory.Wake(schema.ParseGroupResource(e.Key.Name)) // "widgets.example.com"
//		}
//	}, informer.HandlerOptions{})
type Factory struct {
	running sync.WaitGroup // the informers

	mu     sync.Mutex // guards following
	phase  phase
	ctx    context.Context // of Run, while it runs
	shared map[sharedKey]*shared
}

// sharedKey is the identity of an informer.
type sharedKey struct {
	resource                   schema.GroupVersionResource
	namespaces                 string
	labels, fields, projection string
	object                     reflect.Type
}

// shared is an informer with its users. Its mutable fields are guarded by the
// factory's lock.
type shared struct {
	what     Selection
	key      sharedKey
	informer interface {
		Run(context.Context) error
		WaitForSync(context.Context) error
		Healthy(maxStaleness time.Duration) error
		Status() Status
	}
	options any    // Options[T]
	by      string // where in the program it was acquired first
	wake    chan struct{}
	ended   chan struct{} // closed when nothing of it is left

	users int
	stop  context.CancelFunc // nil until it runs
}

// SharedStatus is the state of one informer of a factory.
type SharedStatus struct {
	Selection Selection
	// Type is the Go type of the objects.
	Type string
	// Users is how many handles have not been released.
	Users int
	// Waiting says that the server does not know the resource (404).
	Waiting bool
	Status
}

// Acquire returns a handle on the informer of a selection. The first user's open
// and opts make it: open is called for each namespace, or once where there are none,
// and returns the source of it; several become one, see [sources.Merge]. Its error is one of
// Acquire, and so is a source that is nil. If the factory runs, the informer starts at once, otherwise with the factory.
//
// Every later user of the same selection and type must want the same options, or
// gets a [*ConflictError]. An index function is the same if it is one function of a
// package, or one variable's value: two closures, or a method of a value that is named
// twice, may compute different values, and are a conflict although their code is one.
// Name, Preload, Goroutine, loggers, observers and Reflector.OnError are those of the first, and
// Reflector.Wake is the factory's. Further indexes can be added with Handle.AddIndex.
//
// After the end of Run, the error is ErrStopped.
func Acquire[T any](f *Factory, what Selection, open func(Selection) (listwatch.Source[T], error), opts Options[T]) (*Handle[T], error) {
	if f == nil {
		return nil, errors.New("informer: Acquire needs a Factory")
	}
	what, err := what.normal()
	if err != nil {
		return nil, err
	}
	if open == nil {
		return nil, errors.New("informer: Acquire needs a function that opens a source")
	}
	if opts.Name == "" {
		opts.Name = what.Resource.Resource
	}
	_, file, line, _ := runtime.Caller(1)
	want := &shared{
		what:    what,
		key:     what.key(reflect.TypeFor[T]()),
		options: opts,
		by:      fmt.Sprintf("%s:%d", file, line),
		wake:    make(chan struct{}, 1),
		ended:   make(chan struct{}),
	}
	found, err := f.join(want)
	if found == nil && err == nil {
		// User code, so it is called without the lock; somebody may be faster.
		opts.Reflector.Wake = want.wake
		var parts []listwatch.Source[T]
		if parts, err = openAll(what, open); err == nil {
			want.informer, err = New(sources.Merge(parts...), opts)
		}
		if err == nil {
			found, err = f.join(want)
		}
	}
	if err != nil {
		return nil, err
	}
	return &Handle[T]{factory: f, shared: found, informer: found.informer.(*Informer[T])}, nil
}

// join makes somebody a user of the informer that is wanted, if it is there, or of
// his own, if he has brought one.
func (f *Factory) join(want *shared) (*shared, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase == ended {
		return nil, ErrStopped
	}
	s := f.shared[want.key]
	if s != nil && isClosed(s.ended) {
		s = nil // It gave up.
	}
	switch {
	case s != nil:
		if option := difference("", reflect.ValueOf(s.options), reflect.ValueOf(want.options)); option != "" {
			return nil, &ConflictError{Selection: s.what, Type: s.key.object.String(), Option: option, First: s.by, Second: want.by}
		}
	case want.informer == nil:
		return nil, nil
	default:
		s = want
		if f.shared == nil {
			f.shared = make(map[sharedKey]*shared)
		}
		f.shared[s.key] = s
		if f.phase == running {
			f.startLocked(s)
		}
	}
	s.users++
	return s, nil
}

func (f *Factory) startLocked(s *shared) {
	ctx, cancel := context.WithCancel(f.ctx)
	s.stop = cancel
	f.running.Go(func() {
		defer close(s.ended)
		defer cancel()
		_ = s.informer.Run(ctx) // Why it gave up, its Status tells.
	})
}

// leave ends the use of an informer, and the informer with its last user.
func (f *Factory) leave(s *shared) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.users--
	if s.users > 0 {
		return
	}
	if f.shared[s.key] == s {
		delete(f.shared, s.key)
	}
	if s.stop != nil {
		s.stop()
	} else {
		close(s.ended)
	}
}

// Run runs the informers that have users, until ctx ends, and returns when all of
// them have ended: nothing of the factory is left then (G10). It returns nil, and
// ErrAlreadyRun when called twice.
func (f *Factory) Run(ctx context.Context) error {
	f.mu.Lock()
	if f.phase != created {
		f.mu.Unlock()
		return ErrAlreadyRun
	}
	f.phase, f.ctx = running, ctx
	for _, s := range f.shared {
		f.startLocked(s)
	}
	f.mu.Unlock()
	<-ctx.Done()
	f.mu.Lock()
	f.phase = ended
	f.mu.Unlock()
	f.running.Wait()
	return nil
}

// WaitForSync waits until every informer that has users has its first list in the
// store. The error has a [*SyncError] for each that has not, which says what it was
// doing and what went wrong last. An informer that is released meanwhile is not waited for.
func (f *Factory) WaitForSync(ctx context.Context) error {
	all := f.all()
	var missing []error
	for _, s := range all {
		if err := s.informer.WaitForSync(ctx); err != nil && f.has(s) {
			missing = append(missing, err)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d informers are not synced: %w", len(missing), len(all), errors.Join(missing...))
}

// Healthy is nil if every informer that has users is healthy, see [Informer.Healthy]. The
// error names each that is not. An informer that is released meanwhile does not count.
func (f *Factory) Healthy(maxStaleness time.Duration) error {
	var failing []error
	for _, s := range f.all() {
		if err := s.informer.Healthy(maxStaleness); err != nil && f.has(s) {
			failing = append(failing, err)
		}
	}
	return errors.Join(failing...)
}

// all are the informers, in the order of their selections.
func (f *Factory) all() []*shared {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*shared
	for _, s := range f.shared {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *shared) int { return strings.Compare(a.name(), b.name()) })
	return all
}

func (s *shared) name() string { return s.what.String() + " as " + s.key.object.String() }

func (f *Factory) has(s *shared) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shared[s.key] == s
}

// Status returns the state of all informers, in the order of their selections.
func (f *Factory) Status() []SharedStatus {
	var all []SharedStatus
	for _, s := range f.all() {
		status := s.informer.Status()
		f.mu.Lock()
		users := s.users
		f.mu.Unlock()
		all = append(all, SharedStatus{
			Selection: s.what,
			Type:      s.key.object.String(),
			Users:     users,
			Waiting:   status.Reflector.Failures > 0 && apierrors.IsNotFound(status.Reflector.LastError),
			Status:    status,
		})
	}
	return all
}

// Wake lets the informers of a resource that wait after a failure try again at once.
// If none waits, the next wait is cut short.
func (f *Factory) Wake(resource schema.GroupResource) {
	for _, s := range f.all() {
		if s.what.Resource.GroupResource() == resource {
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
	}
}
