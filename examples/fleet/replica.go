package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/informer/predicate"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
	"github.com/kinform/kinform/workqueue"
)

// settings are the settings of a replica.
type settings struct {
	identity string
	lease    types.NamespacedName
	duration time.Duration
	watch    bool
	workers  int
	serve    string
	logger   *slog.Logger
	out      io.Writer // gets a line at each step
}

// replica keeps a route for every robot while it is the leader.
func replica(ctx context.Context, args []string, out io.Writer) error {
	s := settings{logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), out: out}
	flags := flag.NewFlagSet("fleet replica", flag.ExitOnError)
	flags.StringVar(&s.identity, "identity", "", "name of this replica in the Lease; by default derived from the host name")
	flags.StringVar(&s.lease.Namespace, "namespace", "default", "namespace of the Lease")
	flags.DurationVar(&s.duration, "lease", 15*time.Second, "how long other replicas wait for a leader that is gone")
	flags.BoolVar(&s.watch, "watch", false, "watch the Lease, to take over as soon as a leader ends")
	flags.IntVar(&s.workers, "workers", 8, "how many robots are reconciled at the same time")
	flags.StringVar(&s.serve, "serve", "", "address of /livez and /readyz, such as :8080")
	withInput := flags.Bool("attached", false, "end when standard input ends")
	_ = flags.Parse(args) // Parse exits on errors.
	s.lease.Name = "fleet"
	if *withInput {
		var cancel context.CancelFunc
		ctx, cancel = untilStdinCloses(ctx)
		defer cancel()
	}
	connection, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		return err
	}
	// Check refuses requests after the loss of the lease. An example is a process that was
	// suspended for a minute.
	client, err := rest.NewClient(connection.Config, rest.Options{Limit: lease.Check})
	if err != nil {
		return err
	}
	defer client.Close()
	return run(ctx, client, s)
}

// run works until ctx ends, and returns when all parts have ended.
func run(ctx context.Context, client *rest.Client, s settings) error {
	elector, err := lease.New(client, s.lease, lease.Options{Identity: s.identity, LeaseDuration: s.duration, Watch: s.watch, Logger: s.logger})
	if err != nil {
		return err
	}
	recorder, err := events.New(client, "example.com/fleet", events.Options{Instance: elector.Identity(), Logger: s.logger})
	if err != nil {
		return err
	}
	m, err := controller.New(client, controller.Options{Name: "fleet", Elector: elector, Serve: s.serve, Logger: s.logger})
	if err != nil {
		return err
	}
	r := &reconciler{
		robots: controller.For[*Robot](m, rest.ResourceOptions{Resource: robots, Kind: robotKind.Kind}),
		// Because of the label, the cache has no other ConfigMaps.
		routes: controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{LabelSelector: "example.com/fleet"}),
		events: recorder,
	}
	c := controller.Manage(m, "robots", r.robots, r.reconcile, controller.Settings[*Robot]{
		Workers: s.workers,
		// This predicate ignores the program's own writes of the status.
		When:  predicate.GenerationChanged[*Robot],
		Queue: workqueue.Options[types.NamespacedName]{DrainTimeout: 10 * time.Second},
	})
	controller.Owns(c, r.routes, nil)

	// The parts run beside the controller, each in a stage. So the events of the last reconcile are
	// still sent, and a standby reports that it is ready when its caches are complete.
	m.Add("events", recorder.Run, controller.PartOptions{})
	m.Add("ready", func(context.Context) error {
		_, err := fmt.Fprintln(s.out, "ready")
		return err
	}, controller.PartOptions{Stage: controller.Synced})
	m.Add("leading", func(ctx context.Context) error {
		term, _ := lease.FromContext(ctx)
		recorder.Record(events.Event{
			Regarding: corev1.ObjectReference{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease", Namespace: term.Lease.Namespace, Name: term.Lease.Name},
			Reason:    "Leading", Note: term.Identity + " leads",
		})
		_, err := fmt.Fprintln(s.out, "leading")
		return err
	}, controller.PartOptions{Stage: controller.Leading})

	err = m.Run(ctx)
	queue, eventStats := c.Queue().Stats(), recorder.Stats()
	_, _ = fmt.Fprintf(s.out, "ended reconciles=%d failures=%d events=%d dropped=%d\n", queue.Gets, queue.Failures, eventStats.Sent, eventStats.DroppedTotal())
	return err
}

// reconciler has the clients and the recorder of the reconcile.
type reconciler struct {
	robots *controller.Client[*Robot]
	routes *controller.Client[*corev1.ConfigMap]
	events *events.Recorder
}

// reconcile makes the route for a robot's order, and reports it in the status.
func (r *reconciler) reconcile(ctx context.Context, robot *Robot) (controller.Result, error) {
	if err := r.route(ctx, robot); err != nil {
		return controller.Done, err
	}
	if robot.Status.Order == robot.Spec.Order {
		return controller.Done, nil
	}
	term, _ := lease.FromContext(ctx)
	changed := robot.DeepCopy()
	changed.Status = RobotStatus{Order: robot.Spec.Order, Leader: term.Identity, Term: term.Transitions}
	// The copy has the resourceVersion of the robot that was read. If another replica has written
	// the robot since, the server refuses the update.
	_, err := r.robots.UpdateStatus(ctx, changed)
	return controller.Done, err
}

func (r *reconciler) route(ctx context.Context, robot *Robot) error {
	have, exists := r.routes.Get(robot.key())
	switch {
	case !exists:
		route := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: robot.Namespace, Name: robot.Name}, Data: robot.route()}
		route.Labels = map[string]string{"example.com/fleet": "yes"}
		route.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(robot, robotKind)}
		_, err := r.routes.Create(ctx, route)
		return err
	case !metav1.IsControlledBy(have, robot):
		return fmt.Errorf("ConfigMap %s exists already, and has another owner", robot.key())
	case maps.Equal(have.Data, robot.route()):
		return nil
	}
	changed := have.DeepCopy()
	changed.Data = robot.route()
	_, err := r.routes.Update(ctx, changed)
	if err == nil && robot.Status.Order == robot.Spec.Order { // It was correct before.
		r.events.Warning(robot, "RouteChanged", "somebody had changed the route of order %d; the route is restored", robot.Spec.Order)
	}
	return err
}
