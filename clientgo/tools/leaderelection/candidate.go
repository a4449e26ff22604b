package leaderelection

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/coordination/v1"
	"k8s.io/api/coordination/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1beta1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	firstRetry  = 10 * time.Millisecond
	latestRetry = 30 * time.Second
	// renewPeriod is the period of the renewals that the control plane has not requested. The
	// control plane deletes an object that has not been renewed for half an hour.
	renewPeriod = 5 * time.Minute
)

// CacheSyncWaiter waits for the first list of a watch.
type CacheSyncWaiter interface {
	// WaitForCacheSync waits until the watched types are listed, or stopCh is closed. For each type
	// it returns whether the type is listed. It does not wait for types whose watch does not run
	// yet, and omits them from the result.
	WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool
}

// LeaseCandidate maintains a LeaseCandidate object. Through this object the control plane finds a
// candidate of a coordinated election. It creates the object, and renews it on request and every
// five minutes.
type LeaseCandidate struct {
	client          coordination.LeaseCandidateInterface
	namespace, name string
	spec            v1beta1.LeaseCandidateSpec
	informer        cache.SharedIndexInformer
	renewRequested  chan struct{} // buffer size 1
	running         atomic.Bool
}

// NewCandidate returns a candidate for the lease targetLease. The CacheSyncWaiter waits for the
// first list of the candidate's object. The candidate sends no requests before Run.
func NewCandidate(clientset kubernetes.Interface,
	candidateNamespace string,
	candidateName string,
	targetLease string,
	binaryVersion, emulationVersion string,
	strategy v1.CoordinatedLeaseStrategy,
) (*LeaseCandidate, CacheSyncWaiter, error) {
	c := &LeaseCandidate{
		client:    clientset.CoordinationV1beta1().LeaseCandidates(candidateNamespace),
		namespace: candidateNamespace, name: candidateName,
		spec: v1beta1.LeaseCandidateSpec{
			LeaseName:        targetLease,
			BinaryVersion:    binaryVersion,
			EmulationVersion: emulationVersion,
			Strategy:         strategy,
		},
		renewRequested: make(chan struct{}, 1),
	}
	own := fields.OneTermEqualSelector("metadata.name", candidateName).String()
	c.informer = cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = own
			return c.client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = own
			return c.client.Watch(ctx, options)
		},
	}, clientset), &v1beta1.LeaseCandidate{}, 0, nil)
	_, err := c.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		if candidate, ok := object.(*v1beta1.LeaseCandidate); ok && pinged(&candidate.Spec) {
			c.requestRenewal()
		}
	}})
	if err != nil {
		return nil, nil, err
	}
	return c, candidateList{c}, nil
}

// pinged reports whether the control plane has requested a renewal since the candidate last
// renewed.
func pinged(spec *v1beta1.LeaseCandidateSpec) bool {
	return spec.PingTime != nil && (spec.RenewTime == nil || spec.RenewTime.Before(spec.PingTime))
}

func (c *LeaseCandidate) requestRenewal() {
	select {
	case c.renewRequested <- struct{}{}:
	default: // a renewal is pending already
	}
}

// Run creates the object and renews it until ctx ends. It may be called once.
func (c *LeaseCandidate) Run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	logger := klog.LoggerWithName(klog.FromContext(ctx), "leasecandidate")
	ctx = klog.NewContext(ctx, logger)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	defer func() { cancel(); <-ended }()
	c.running.Store(true)
	go func() {
		defer close(ended)
		c.informer.RunWithContext(ctx)
	}()
	if !cache.WaitForCacheSync(ctx.Done(), c.informer.HasSynced) {
		return
	}
	c.requestRenewal()
	due := time.NewTimer(renewPeriod)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.renewRequested:
		case <-due.C:
		}
		c.renewUntilDone(ctx)
		due.Reset(renewPeriod)
	}
}

// renewUntilDone renews the object. After an error it retries, until it succeeds or ctx ends.
func (c *LeaseCandidate) renewUntilDone(ctx context.Context) {
	for delay := firstRetry; ctx.Err() == nil; delay = min(2*delay, latestRetry) {
		err := c.renew(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		utilruntime.HandleErrorWithContext(ctx, err, "Could not renew the lease candidate", "leaseCandidate", klog.KRef(c.namespace, c.name))
		pause(ctx, delay)
	}
}

// renew updates the renew time of the object, or creates the object if it does not exist.
func (c *LeaseCandidate) renew(ctx context.Context) error {
	now := metav1.NowMicro()
	object, found, err := c.informer.GetStore().GetByKey(c.namespace + "/" + c.name)
	if err != nil {
		return err
	}
	if found {
		candidate := object.(*v1beta1.LeaseCandidate).DeepCopy()
		candidate.Spec.RenewTime = &now
		if _, err = c.client.Update(ctx, candidate, metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
			return err
		}
	}
	candidate := &v1beta1.LeaseCandidate{ObjectMeta: metav1.ObjectMeta{Name: c.name, Namespace: c.namespace}, Spec: c.spec}
	candidate.Spec.RenewTime = &now
	_, err = c.client.Create(ctx, candidate, metav1.CreateOptions{})
	return err
}

// candidateList is the CacheSyncWaiter of a candidate.
type candidateList struct{ c *LeaseCandidate }

func (l candidateList) WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool {
	if !l.c.running.Load() {
		return map[reflect.Type]bool{}
	}
	return map[reflect.Type]bool{reflect.TypeFor[*v1beta1.LeaseCandidate](): cache.WaitForCacheSync(stopCh, l.c.informer.HasSynced)}
}
