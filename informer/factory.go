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

// Factory lets independent parts of a program share informers. There is one informer for each
// [Selection] and Go type. An informer starts when its first user acquires it, and stops when its
// last user releases it. A later user gets a new informer. The zero Factory is ready to use; all
// methods are safe for concurrent use.
//
//	var factory informer.Factory
//	pods, err := informer.Acquire(&factory, informer.Selection{Resource: podsGVR}, open, options)
//	...
//	err = factory.Run(ctx)
//
// # Resources that do not exist yet
//
// A custom resource may be acquired before its CustomResourceDefinition (CRD) exists. The informer
// then waits, and Status shows this. It lists again with the back-off of its reflector. A program
// that may watch CRDs can end this wait early:
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
	ctx    context.Context // the context of Run, while it runs
	shared map[sharedKey]*shared
}

// sharedKey identifies an informer.
type sharedKey struct {
	resource                   schema.GroupVersionResource
	namespaces                 string
	labels, fields, projection string
	object                     reflect.Type
}

// shared is an informer with its users. Its mutable fields are guarded by the
// factory's lock.
type shared struct {
	selection Selection
	key       sharedKey
	informer  interface {
		Run(context.Context) error
		WaitForSync(context.Context) error
		Healthy(maxStaleness time.Duration) error
		Status() Status
	}
	options    any    // Options[T]
	acquiredAt string // file and line of the first Acquire
	wake       chan struct{}
	ended      chan struct{} // closed when the informer has ended completely

	users int
	stop  context.CancelFunc // nil until the informer runs
}

// SharedStatus is the state of one informer of a factory.
type SharedStatus struct {
	Selection Selection
	// Type is the Go type of the objects.
	Type string
	// Users is the number of handles that have not been released.
	Users int
	// Waiting says that the server does not know the resource (404).
	Waiting bool
	Status
}

// Acquire returns a handle on the informer of a selection. The first user's arguments open and opts
// configure the informer. Acquire calls the function open for each namespace, or once if the
// selection names no namespace. The function returns the source of the namespace. Several sources
// become one, see [sources.Merge]. If open returns an error or a nil source, Acquire returns an
// error. If the factory runs, the informer starts at once, otherwise together with the factory.
//
// Every later user of the same selection and type must pass the same options, or gets a
// [*ConflictError]. Two index functions are the same if they are one package-level function, or one
// variable's value. Two closures, or two method values, may compute different values, so they
// conflict even if they share their code. Later users may pass other values for Name, Preload,
// Goroutine, loggers, observers and Reflector.OnError, but only the first user's values apply. The
// factory sets Reflector.Wake. Further indexes can be added with Handle.AddIndex.
//
// After the end of Run, the error is ErrStopped.
func Acquire[T any](f *Factory, selection Selection, open func(Selection) (listwatch.Source[T], error), opts Options[T]) (*Handle[T], error) {
	if f == nil {
		return nil, errors.New("informer: Acquire needs a Factory")
	}
	selection, err := selection.normalized()
	if err != nil {
		return nil, err
	}
	if open == nil {
		return nil, errors.New("informer: Acquire needs a function that opens a source")
	}
	if opts.Name == "" {
		opts.Name = selection.Resource.Resource
	}
	_, file, line, _ := runtime.Caller(1)
	want := &shared{
		selection:  selection,
		key:        selection.key(reflect.TypeFor[T]()),
		options:    opts,
		acquiredAt: fmt.Sprintf("%s:%d", file, line),
		wake:       make(chan struct{}, 1),
		ended:      make(chan struct{}),
	}
	found, err := f.joinOrAdd(want)
	if found == nil && err == nil {
		// The function open is user code, so it is called without the lock. Another user may add
		// the informer first.
		opts.Reflector.Wake = want.wake
		var parts []listwatch.Source[T]
		if parts, err = openAll(selection, open); err == nil {
			want.informer, err = New(sources.Merge(parts...), opts)
		}
		if err == nil {
			found, err = f.joinOrAdd(want)
		}
	}
	if err != nil {
		return nil, err
	}
	return &Handle[T]{factory: f, shared: found, informer: found.informer.(*Informer[T])}, nil
}

// joinOrAdd adds a user to the matching informer if there is one. Otherwise it adds the caller's
// own informer, if the caller has made one.
func (f *Factory) joinOrAdd(want *shared) (*shared, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase == ended {
		return nil, ErrStopped
	}
	s := f.shared[want.key]
	if s != nil && isClosed(s.ended) {
		s = nil // Its reflector gave up.
	}
	switch {
	case s != nil:
		if option := difference("", reflect.ValueOf(s.options), reflect.ValueOf(want.options)); option != "" {
			return nil, &ConflictError{Selection: s.selection, Type: s.key.object.String(), Option: option, First: s.acquiredAt, Second: want.acquiredAt}
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
		_ = s.informer.Run(ctx) // Status has the error.
	})
}

// release releases one user of an informer, and stops the informer with its last user.
func (f *Factory) release(s *shared) {
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

// Run runs the informers that have users until ctx ends. It returns when all of them have ended, so
// none of the factory's goroutines remains (G10). It returns nil, or ErrAlreadyRun when called
// twice.
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

// WaitForSync waits until every informer that has users has its first list in the store. The error
// contains a [*SyncError] for each informer that is not synced, with its state and its last error.
// An informer that is released meanwhile is not waited for.
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

// Healthy returns nil if every informer that has users is healthy, see [Informer.Healthy]. The
// error names each unhealthy informer. An informer that is released meanwhile does not count.
func (f *Factory) Healthy(maxStaleness time.Duration) error {
	var failing []error
	for _, s := range f.all() {
		if err := s.informer.Healthy(maxStaleness); err != nil && f.has(s) {
			failing = append(failing, err)
		}
	}
	return errors.Join(failing...)
}

// all returns the informers, ordered by selection.
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

func (s *shared) name() string { return s.selection.String() + " as " + s.key.object.String() }

func (f *Factory) has(s *shared) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shared[s.key] == s
}

// Status returns the state of all informers, ordered by selection.
func (f *Factory) Status() []SharedStatus {
	var all []SharedStatus
	for _, s := range f.all() {
		status := s.informer.Status()
		f.mu.Lock()
		users := s.users
		f.mu.Unlock()
		all = append(all, SharedStatus{
			Selection: s.selection,
			Type:      s.key.object.String(),
			Users:     users,
			Waiting:   status.Reflector.Failures > 0 && apierrors.IsNotFound(status.Reflector.LastError),
			Status:    status,
		})
	}
	return all
}

// Wake makes the waiting informers of a resource retry at once. If no informer waits, the next wait
// ends at once.
func (f *Factory) Wake(resource schema.GroupResource) {
	for _, s := range f.all() {
		if s.selection.Resource.GroupResource() == resource {
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
	}
}
