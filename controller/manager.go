package controller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/rest"
)

// Options are the options of a [Manager]. The zero value is ready to use.
type Options struct {
	// Name is the field manager of all writes, and the program's name in logs. Defaults to
	// "kinform".
	Name string

	// Namespaces are the namespaces that the manager's caches select. Cluster-scoped built-in
	// resources are selected whole; for custom resources see Selection.Namespaces. Defaults to all
	// namespaces.
	Namespaces []string

	// Elector decides whether this process works: controllers, and parts of stage Leading, run
	// while it leads. Caches always run, so that a new leader can begin at once. Defaults to nil:
	// this process always works.
	Elector Elector

	// Serve is the address of /livez, /readyz and the endpoints of [Manager.Handle], such as
	// "127.0.0.1:8080", or ":8080" for all interfaces, which a kubelet's probes need. The manager
	// serves every client at this address, without authentication. Defaults to "": the caller can
	// serve [Manager.Handler] itself.
	Serve string

	// MaxStaleness is how long a cache may receive nothing from its server while the manager stays
	// ready; see informer.Informer.Healthy. Defaults to 10 minutes.
	MaxStaleness time.Duration

	// Observer provides observers for the queues and the caches, see package metrics. Defaults to
	// nil.
	Observer *Observer

	// Logger receives errors that no call can return. Defaults to slog.Default() at the time of
	// New. slog.New(slog.DiscardHandler) logs nothing.
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	if o.MaxStaleness < 0 {
		return o, fmt.Errorf("controller: Options.MaxStaleness is %v: it must not be negative", o.MaxStaleness)
	}
	if o.Name == "" {
		o.Name = "kinform"
	}
	if o.MaxStaleness == 0 {
		o.MaxStaleness = 10 * time.Minute
	}
	o.Logger = contain.Logger(o.Logger)
	return o, nil
}

// Elector decides whether this process works. *lease.Elector implements it.
type Elector interface {
	// RunUntil waits until this process leads, calls the function lead, and returns when the
	// function has returned. The context of the function ends before another process can lead, and
	// when ctx ends. When the context stop ends, RunUntil no longer waits to lead, but a leader
	// continues until its function has returned.
	RunUntil(ctx, stop context.Context, lead func(ctx context.Context) error) error

	// Healthy returns an error if the lease was lost and the function lead has not returned.
	Healthy() error
}

// Manager owns the caches, the lease and the health endpoints of a program's controllers. The
// package comment documents the order in which it starts and ends them.
//
// Controllers, clients and parts are added before Run. All methods are safe for concurrent
// use.
type Manager struct {
	client    *rest.Client
	opts      Options
	endpoints *http.ServeMux
	hooks     contain.Hooks // of the Observer

	mu          sync.Mutex // guards following
	running     bool
	wiringErrs  []error // errors in the wiring, which Run returns
	clusters    []*clusterCaches
	names       map[cacheID]string // of all caches
	controllers []anyController
	parts       []*part
	stage       Stage // the current stage of Run
	stopping    bool
}

// anyController is a Controller of any type.
type anyController interface {
	name() string
	run(ctx, stop context.Context) error
	end()
	status() ControllerStatus
	healthy() error
}

// New returns a manager for the cluster of client. The caller owns the client, and closes it after
// Run.
func New(client *rest.Client, opts Options) (*Manager, error) {
	if client == nil {
		return nil, errors.New("controller: New needs a client: see rest.NewClient")
	}
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Manager{client: client, opts: opts, endpoints: http.NewServeMux(), names: map[cacheID]string{}}
	m.hooks.Logger = opts.Logger
	m.addProbes()
	return m, nil
}

var errRunning = errors.New("the manager runs already: add everything before Run")

// addWiringError records an error in the wiring, unless err is nil.
func (m *Manager) addWiringError(err error) { m.configure(func() error { return err }) }

// configure calls the function add with the lock held, and records its error, if any.
func (m *Manager) configure(add func() error) {
	m.mu.Lock()
	err, running := add(), m.running
	if err != nil && !running {
		m.wiringErrs = append(m.wiringErrs, err)
	}
	m.mu.Unlock()
	if err != nil && running { // Run has returned the recorded errors already.
		m.opts.Logger.Error("nothing can be added to a running manager", "err", err)
	}
}

// add adds a controller.
func (m *Manager) add(w anyController) {
	m.configure(func() error {
		if m.running {
			return fmt.Errorf("controller %q: %w", w.name(), errRunning)
		}
		for _, other := range m.controllers {
			if other.name() == w.name() {
				return fmt.Errorf("controller %q: another controller has the same name", w.name())
			}
		}
		m.controllers = append(m.controllers, w)
		return nil
	})
}
