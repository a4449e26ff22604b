package workloads

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// GarbageCollector is the garbage collector of the server. It deletes objects whose owners are
// gone. It handles the dependents of a deleted object by the propagation policy of the deletion,
// like the garbage collector of a cluster.
type GarbageCollector struct {
	cluster Cluster
	nodes   map[types.UID]*ownedNode

	// dependents are the objects that name an owner, by the UID of the owner. It may contain an
	// owner that does not exist.
	dependents map[types.UID]map[types.UID]*ownedNode

	toCheck map[types.UID]bool // UIDs of objects to check
}

// ownedNode is an object in the collector's graph.
type ownedNode struct {
	res        *storage.Resource
	key        types.NamespacedName
	uid        types.UID
	version    string
	owners     []metav1.OwnerReference
	finalizers []string
	deleting   bool
}

func (n *ownedNode) has(finalizer string) bool { return slices.Contains(n.finalizers, finalizer) }

// waitsForDependents reports whether the object waits until its dependents are deleted.
func (n *ownedNode) waitsForDependents() bool {
	return n.deleting && n.has(metav1.FinalizerDeleteDependents)
}

// matches reports whether an owner reference of an object in this namespace names this object.
func (n *ownedNode) matches(ref metav1.OwnerReference, namespace string) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && n.uid == ref.UID && n.res.Kind == ref.Kind && n.res.Group == gv.Group && n.key.Name == ref.Name &&
		(n.key.Namespace == "" || n.key.Namespace == namespace)
}

// NewGarbageCollector returns a collector of a server.
func NewGarbageCollector(c Cluster) *GarbageCollector { return &GarbageCollector{cluster: c} }

// Run is the loop of the collector. It returns when ctx ends.
func (g *GarbageCollector) Run(ctx context.Context) {
	RunLoop(ctx, g.cluster.Store, ChangeLoop{Start: g.Start, Change: g.change, OnIdle: g.CheckDue})
}

// Start reads all objects.
func (g *GarbageCollector) Start() {
	g.nodes = map[types.UID]*ownedNode{}
	g.dependents = map[types.UID]map[types.UID]*ownedNode{}
	g.toCheck = map[types.UID]bool{}
	seen := map[*storage.Collection]bool{}
	for _, res := range g.cluster.Store.Resources() {
		if seen[res.Data] {
			continue
		}
		seen[res.Data] = true
		objects, _ := g.cluster.Store.Snapshot(res)
		for rev := range objects.InNamespace("") {
			g.update(rev)
		}
	}
}

func (g *GarbageCollector) change(c *storage.Change) {
	if c.Cur != nil {
		g.update(c.Cur)
		return
	}
	g.forget(c.Prev.Metadata().UID)
}

// update updates the graph with the current state of an object.
func (g *GarbageCollector) update(rev *storage.Revision) {
	meta := rev.Metadata()
	g.forget(meta.UID)
	n := &ownedNode{
		res: rev.Res, key: rev.Key, uid: meta.UID, version: meta.ResourceVersion, owners: meta.OwnerReferences,
		finalizers: meta.Finalizers, deleting: meta.DeletionTimestamp != nil,
	}
	g.nodes[n.uid] = n
	for _, ref := range n.owners {
		if g.dependents[ref.UID] == nil {
			g.dependents[ref.UID] = map[types.UID]*ownedNode{}
		}
		g.dependents[ref.UID][n.uid] = n
	}
	g.toCheck[n.uid] = true
	g.enqueueRelated(n)
}

// forget removes an object from the graph.
func (g *GarbageCollector) forget(uid types.UID) {
	n := g.nodes[uid]
	if n == nil {
		return
	}
	delete(g.nodes, uid)
	for _, ref := range n.owners {
		delete(g.dependents[ref.UID], uid)
		if len(g.dependents[ref.UID]) == 0 {
			delete(g.dependents, ref.UID)
		}
	}
	g.enqueueRelated(n)
}

// enqueueRelated schedules checks of all objects that a change of n affects.
func (g *GarbageCollector) enqueueRelated(n *ownedNode) {
	for _, ref := range n.owners {
		g.toCheck[ref.UID] = true
	}
	for uid := range g.dependents[n.uid] {
		g.toCheck[uid] = true
	}
}

// CheckDue checks all due objects. The collector's own writes come back to it as changes.
func (g *GarbageCollector) CheckDue() {
	for uid := range g.toCheck {
		delete(g.toCheck, uid)
		n := g.nodes[uid]
		if n == nil {
			continue
		}
		err := g.check(n)
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			// NotFound and Conflict are not logged, because another change of the object follows.
			g.cluster.Logger.Warn("the garbage collector of apitest cannot do its work", "kind", n.res.Kind, "key", n.key, "err", err)
		}
	}
}

// check checks one object, and makes the necessary writes.
func (g *GarbageCollector) check(n *ownedNode) error {
	switch {
	case n.deleting && n.has(metav1.FinalizerOrphanDependents):
		for _, dependent := range g.dependents[n.uid] {
			if err := g.removeOwners(dependent, n.uid); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		return g.removeFinalizer(n, metav1.FinalizerOrphanDependents)
	case n.waitsForDependents():
		for _, dependent := range g.dependents[n.uid] {
			blocks := func(ref metav1.OwnerReference) bool {
				return ref.UID == n.uid && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion
			}
			if slices.ContainsFunc(dependent.owners, blocks) {
				return nil // When that dependent is gone, n is checked again.
			}
		}
		return g.removeFinalizer(n, metav1.FinalizerDeleteDependents)
	case n.deleting:
		return nil
	}
	var solid, gone, waiting []types.UID
	for _, ref := range n.owners {
		switch owner := g.nodes[ref.UID]; {
		case owner == nil || !owner.matches(ref, n.key.Namespace):
			gone = append(gone, ref.UID)
		case owner.waitsForDependents():
			waiting = append(waiting, ref.UID)
		default:
			solid = append(solid, ref.UID)
		}
	}
	leaving := append(gone, waiting...)
	switch {
	case len(leaving) == 0:
		return nil
	case len(solid) > 0:
		return g.removeOwners(n, leaving...)
	}
	policy := metav1.DeletePropagationBackground
	switch {
	case len(waiting) > 0 && len(g.dependents[n.uid]) > 0, n.has(metav1.FinalizerDeleteDependents):
		policy = metav1.DeletePropagationForeground
	case n.has(metav1.FinalizerOrphanDependents):
		policy = metav1.DeletePropagationOrphan
	}
	// The object may have got another owner meanwhile, so only the checked version is deleted.
	opts := metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &n.uid, ResourceVersion: &n.version}}
	_, _, err := g.cluster.Remove(n.res, n.key, opts)
	return err
}

// removeOwners removes owner references from an object.
func (g *GarbageCollector) removeOwners(n *ownedNode, owners ...types.UID) error {
	return g.modify(n, func(obj apiobject.Object) {
		obj.SetOwnerReferences(slices.DeleteFunc(obj.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
			return slices.Contains(owners, ref.UID)
		}))
	})
}

// removeFinalizer removes a finalizer from an object.
func (g *GarbageCollector) removeFinalizer(n *ownedNode, finalizer string) error {
	return g.modify(n, func(obj apiobject.Object) {
		obj.SetFinalizers(slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}

func (g *GarbageCollector) modify(n *ownedNode, change func(apiobject.Object)) error {
	_, err := g.cluster.Modify(n.res, n.key, false, func(old *storage.Revision) (apiobject.Object, error) {
		obj := old.Object()
		if obj.GetUID() != n.uid {
			return nil, apierrors.NewConflict(n.res.GroupResource(), n.key.Name, errors.New("another object has the name"))
		}
		change(obj)
		return obj, nil
	})
	return err
}

// SetPropagationFinalizers sets the finalizers that delay a deletion until the collector has
// handled the dependents. Without a collector, nothing would remove these finalizers.
func SetPropagationFinalizers(res *storage.Resource, obj apiobject.Object, opts metav1.DeleteOptions) {
	//lint:ignore SA1019 Clients of old send it, and kubectl did.
	if obj.GetDeletionTimestamp() != nil && opts.PropagationPolicy == nil && opts.OrphanDependents == nil {
		return
	}
	finalizers := slices.DeleteFunc(obj.GetFinalizers(), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch propagationPolicy(res, obj, opts) {
	case metav1.DeletePropagationOrphan:
		finalizers = append(finalizers, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		finalizers = append(finalizers, metav1.FinalizerDeleteDependents)
	}
	obj.SetFinalizers(finalizers)
}

// propagationPolicy decides what happens to the dependents of an object. The first policy that
// exists applies: the deletion's, the one of the object's finalizers, the type's default.
func propagationPolicy(res *storage.Resource, obj apiobject.Object, opts metav1.DeleteOptions) metav1.DeletionPropagation {
	switch {
	case opts.PropagationPolicy != nil:
		return *opts.PropagationPolicy
	//lint:ignore SA1019 Clients of old send it, and kubectl did.
	case opts.OrphanDependents != nil && *opts.OrphanDependents:
		return metav1.DeletePropagationOrphan
	//lint:ignore SA1019 Clients of old send it, and kubectl did.
	case opts.OrphanDependents != nil:
		return metav1.DeletePropagationBackground
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	case res.Group == "batch" && res.Plural == "jobs", res.Group == "" && res.Plural == "replicationcontrollers":
		// These types orphan by default, because they are older than the other policies.
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}
