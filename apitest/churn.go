package apitest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/podmaker"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// ChurnOptions are the options of [Server.Churn]. The zero value works.
type ChurnOptions struct {
	// PerSecond is the number of writes per second. Defaults to 10.
	PerSecond float64

	// Creates, Updates and Deletes are the relative frequencies of these kinds of write. Defaults
	// to 1, 8 and 1, if all three are 0.
	Creates, Updates, Deletes int

	// Writes is the number of writes after which Churn returns. Defaults to 0: Churn returns only
	// when the context ends.
	Writes int

	// Pods are the options of the pods that Churn creates.
	Pods PodOptions

	// Seed determines which pods are written, and how they change. The default 0 is a valid seed.
	Seed uint64
}

// churnTick is the interval at which Churn makes the writes that are due.
const churnTick = 10 * time.Millisecond

// Churn creates, updates and deletes pods at a steady rate, as in a busy cluster. It blocks until
// ctx ends or the number of writes is reached; neither end is an error. Pods that exist at the
// start are updated and deleted as well. An update does what [RestartContainer] does. Churn returns
// the number of writes made.
//
// If writes take longer than the rate allows, Churn catches up later.
func (s *Server) Churn(ctx context.Context, opts ChurnOptions) (writes int, err error) {
	c := churner{srv: s, opts: opts, random: rand.New(rand.NewPCG(opts.Seed, 4)), maker: podmaker.New(opts.Pods.Namespaces, opts.Pods.Nodes, opts.Pods.Seed)}
	if opts.PerSecond == 0 {
		c.opts.PerSecond = 10
	}
	if opts.Creates+opts.Updates+opts.Deletes == 0 {
		c.opts.Creates, c.opts.Updates, c.opts.Deletes = 1, 8, 1
	}
	if c.opts.PerSecond < 0 || c.opts.Creates < 0 || c.opts.Updates < 0 || c.opts.Deletes < 0 {
		return 0, errors.New("apitest: churn: rate and shares must not be negative")
	}
	pods := s.store.Resource(podsResource)
	stored, _ := s.store.Snapshot(pods)
	for rev := range stored.InNamespace("") {
		c.keys = append(c.keys, rev.Key)
	}
	return c.run(ctx)
}

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

// churner is one run of Churn.
type churner struct {
	srv    *Server
	opts   ChurnOptions
	random *rand.Rand
	maker  *podmaker.Maker
	keys   []types.NamespacedName // keys of the known pods
	made   int
}

func (c *churner) run(ctx context.Context) (writes int, err error) {
	tick := time.NewTicker(churnTick)
	defer tick.Stop()
	begin := time.Now()
	for {
		select {
		case <-ctx.Done():
			return writes, nil
		case <-tick.C:
		}
		for due := int(time.Since(begin).Seconds() * c.opts.PerSecond); writes < due; writes++ {
			if ctx.Err() != nil || c.opts.Writes > 0 && writes == c.opts.Writes {
				return writes, nil
			}
			if err := c.write(); err != nil {
				return writes, fmt.Errorf("apitest: churn: %w", err)
			}
		}
	}
}

// write makes one write to one pod.
func (c *churner) write() error {
	n := c.random.IntN(c.opts.Creates + c.opts.Updates + c.opts.Deletes)
	switch {
	case n < c.opts.Creates || len(c.keys) == 0:
		return c.create()
	case n < c.opts.Creates+c.opts.Updates:
		return c.update()
	default:
		return c.delete()
	}
}

func (c *churner) create() error {
	pod := c.maker.Pod(c.made, fmt.Sprintf("churn-%d-%06d", c.opts.Seed, c.made))
	c.made++
	_, err := c.srv.Create(pod)
	if apierrors.IsAlreadyExists(err) {
		return nil // A pod of this name exists from an earlier run with the same seed.
	}
	c.keys = append(c.keys, apiobject.Key(pod))
	return err
}

// update changes a pod, unless another client has deleted it.
func (c *churner) update() error {
	i := c.random.IntN(len(c.keys))
	pods := c.srv.store.Resource(podsResource)
	_, err := c.srv.modify(pods, c.keys[i], false, func(old *storage.Revision) (Object, error) {
		obj := old.Object()
		if pod, ok := obj.(*corev1.Pod); ok {
			RestartContainer(pod)
		}
		return obj, nil
	})
	if apierrors.IsNotFound(err) {
		c.forget(i)
		return nil
	}
	return err
}

func (c *churner) delete() error {
	i := c.random.IntN(len(c.keys))
	key := c.keys[i]
	c.forget(i)
	if err := c.srv.Delete(podsResource, key); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

func (c *churner) forget(i int) {
	last := len(c.keys) - 1
	c.keys[i] = c.keys[last]
	c.keys = c.keys[:last]
}
