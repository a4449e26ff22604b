package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// measure runs the phases of the test, one after another.
func (l *load) measure(ctx context.Context) (err error) {
	defer func() {
		for _, p := range l.replicas { // After a successful test, no replica is left.
			err = errors.Join(err, p.stop())
		}
	}()
	l.logf("two replicas")
	for range 2 {
		if err := l.startReplica(ctx); err != nil {
			return err
		}
	}
	if err := l.findLeader(ctx); err != nil {
		return err
	}
	l.logf("%d robots are created", l.objects)
	if err := l.phase(ctx, "create", l.forEachRobot(l.create)); err != nil {
		return err
	}
	l.logf("each gets an order, as fast as the server takes them")
	if err := l.phase(ctx, "change, all at once", l.forEachRobot(l.change)); err != nil {
		return err
	}
	l.logf("%d orders per second, for %v", l.rate, l.steady)
	if err := l.phase(ctx, "change, at an even pace", l.atEvenRate(func() bool { return false })); err != nil {
		return err
	}
	for _, s := range []struct {
		signal os.Signal
		name   string
	}{{syscall.SIGTERM, "SIGTERM"}, {syscall.SIGKILL, "SIGKILL"}} {
		l.logf("the same, and the leader gets %s", s.name)
		if err := l.takeover(ctx, s.signal, s.name); err != nil {
			return err
		}
		if err := l.startReplica(ctx); err != nil { // A cluster would also start another replica.
			return err
		}
	}
	l.logf("what there is on the server is compared, and all end")
	if err := l.checkRobots(ctx); err != nil {
		return err
	}
	l.report.late = l.watcher.lateStatuses()
	l.report.memory(l.replicas)
	for len(l.replicas) > 0 {
		// Standbys end first, so that none of them takes over.
		last := l.replicas[len(l.replicas)-1]
		l.replicas = l.replicas[:len(l.replicas)-1]
		if err := l.report.end(last, l.watcher); err != nil {
			return err
		}
	}
	return nil
}

// startReplica starts a replica, and waits until its caches are complete.
func (l *load) startReplica(ctx context.Context) error {
	name := fmt.Sprintf("replica-%d", l.started)
	l.started++
	begun := time.Now()
	p, err := startProcess(name, []string{"KUBECONFIG=" + l.kubeconfig}, l.fail, "replica", "-identity", name, "-namespace", l.namespace,
		"-lease", l.lease.String(), "-workers", fmt.Sprint(l.workers), fmt.Sprintf("-watch=%v", l.watch))
	if err != nil {
		return err
	}
	l.replicas = append(l.replicas, p)
	_, err = p.await(ctx, "ready")
	l.report.ready = append(l.report.ready, time.Since(begun))
	return err
}

// findLeader waits until one of the replicas leads, and moves it to the front.
func (l *load) findLeader(ctx context.Context) error {
	for {
		for n, p := range l.replicas {
			if _, leads, _ := p.line("leading"); leads {
				l.replicas[0], l.replicas[n] = l.replicas[n], l.replicas[0]
				return nil
			}
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("no replica leads: %w", err)
		}
	}
}

// phase runs do, and waits until all orders that do gave are done.
func (l *load) phase(ctx context.Context, name string, do func(context.Context) error) error {
	begun, before := time.Now(), l.orders
	if err := do(ctx); err != nil {
		return err
	}
	took, err := l.watcher.settle(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if given := l.orders - before; int64(len(took)) != given {
		return fmt.Errorf("%s: %d orders were given, but %d are done", name, given, len(took))
	}
	l.report.phases = append(l.report.phases, phase{name, took, time.Since(begun)})
	return nil
}

// takeover ends the leader with a signal while orders are given. It waits until the other replica
// leads.
func (l *load) takeover(ctx context.Context, signal os.Signal, name string) error {
	old, next := l.replicas[0], l.replicas[1]
	l.report.memory(l.replicas)
	signalled := make(chan time.Time, 1)
	end := time.AfterFunc(time.Second, func() {
		signalled <- time.Now()
		_ = old.signal(signal)
	})
	defer end.Stop()
	if err := l.phase(ctx, "the leader gets "+name, l.atEvenRate(func() bool { return !l.watcher.leads(next.name) })); err != nil {
		return err
	}
	since := l.watcher.leader(next.name).first
	l.report.takeovers = append(l.report.takeovers, takeover{name, since.Sub(<-signalled)})
	l.replicas = l.replicas[1:]
	if signal == syscall.SIGTERM {
		return l.report.end(old, l.watcher)
	}
	<-old.ended
	return nil
}

// checkRobots checks that every robot on the server has the right status and the right route.
func (l *load) checkRobots(ctx context.Context) error {
	routes, err := list(ctx, l.routes)
	if err != nil {
		return err
	}
	all, err := list(ctx, l.robots)
	if err != nil {
		return err
	}
	if len(all) != l.objects || len(routes) != l.objects {
		return fmt.Errorf("there are %d robots and %d routes instead of %d", len(all), len(routes), l.objects)
	}
	for key, robot := range all {
		route := routes[key]
		if route == nil || route.Data["order"] != fmt.Sprint(robot.Spec.Order) || robot.Status.Order != robot.Spec.Order {
			return fmt.Errorf("robot %s has order %d, but the status has order %d, and the route is %v", key, robot.Spec.Order, robot.Status.Order, route)
		}
	}
	return nil
}

// list returns all objects of a resource.
func list[T any](ctx context.Context, resource *rest.Resource[T]) (map[types.NamespacedName]T, error) {
	items, err := listwatch.Collect(resource.List(ctx, listwatch.ListOptions{}))
	all := map[types.NamespacedName]T{}
	for _, item := range items {
		all[item.Key] = item.Object
	}
	return all, err
}

// pause waits for the duration d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
