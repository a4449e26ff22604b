package main

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/plain"
)

// side is one of the stores. Objects are identified by their number.
type side interface {
	get(n int)
	// update stores the object again, on the same node or on the next one.
	update(n int, moved bool)
	all() int
	node(n int) int
}

const (
	namespaces     = 100
	objectsPerNode = 100
	byNode         = "node"
)

// fixture has the stored objects: each pod in two versions, on neighbouring nodes.
type fixture struct {
	names  []string               // keys for client-go
	keys   []types.NamespacedName // keys for kinform and plain
	pods   [2][]*corev1.Pod
	nodes  []string
	onNext []bool // whether the later version is stored
}

func newFixture(objects int) *fixture {
	f := &fixture{onNext: make([]bool, objects)}
	for n := range max(objects/objectsPerNode, 1) {
		f.nodes = append(f.nodes, "node-"+strconv.Itoa(n))
	}
	for n := range objects {
		key := types.NamespacedName{
			Namespace: "namespace-" + strconv.Itoa(n%namespaces),
			Name:      fmt.Sprintf("deployment-%08x-%05d", uint32(n)*2654435761, n),
		}
		f.keys = append(f.keys, key)
		f.names = append(f.names, key.Namespace+"/"+key.Name)
		for version := range f.pods {
			f.pods[version] = append(f.pods[version], &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: strconv.Itoa(1000 + n)},
				Spec:       corev1.PodSpec{NodeName: f.nodes[(n+version)%len(f.nodes)]},
			})
		}
	}
	return f
}

// next returns the pod to store under a number. If moved is true, it is the pod's version on the
// other node.
func (f *fixture) next(n int, moved bool) *corev1.Pod {
	if moved {
		f.onNext[n] = !f.onNext[n]
	}
	if f.onNext[n] {
		return f.pods[1][n]
	}
	return f.pods[0][n]
}

// kinform is the store of package indexer.
type kinform struct {
	*fixture
	store  *indexer.Store[*corev1.Pod]
	byNode indexer.Index[*corev1.Pod]
	op     [1]indexer.Op[*corev1.Pod]
}

func newKinform(objects int) (*kinform, error) {
	store, err := indexer.New(indexer.Options[*corev1.Pod]{Indexes: map[string]indexer.IndexFunc[*corev1.Pod]{
		byNode: func(pod *corev1.Pod) ([]string, error) { return []string{pod.Spec.NodeName}, nil },
	}})
	if err != nil {
		return nil, err
	}
	k := &kinform{fixture: newFixture(objects), store: store}
	if k.byNode, err = store.Index(byNode); err != nil {
		return nil, err
	}
	for n := range k.keys {
		k.update(n, false)
	}
	return k, nil
}

func (k *kinform) get(n int) {
	if _, ok := k.store.Get(k.keys[n]); !ok {
		panic("not found")
	}
}

func (k *kinform) update(n int, moved bool) {
	pod := k.next(n, moved)
	k.op[0] = indexer.Op[*corev1.Pod]{Key: k.keys[n], Object: pod, ResourceVersion: pod.ResourceVersion}
	if _, err := k.store.Apply(k.op[:], pod.ResourceVersion); err != nil {
		panic(err)
	}
}

func (k *kinform) all() (count int) {
	for range k.store.All() {
		count++
	}
	return count
}

func (k *kinform) node(n int) (count int) {
	for range k.byNode.Having(k.nodes[n%len(k.nodes)]) {
		count++
	}
	return count
}

// clientGo is cache.ThreadSafeStore, whose caller passes the keys.
type clientGo struct {
	*fixture
	store cache.ThreadSafeStore
}

func newClientGo(objects int) *clientGo {
	c := &clientGo{fixture: newFixture(objects), store: cache.NewThreadSafeStore(cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		byNode:               func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
	}, cache.Indices{})}
	for n := range c.keys {
		c.update(n, false)
	}
	return c
}

func (c *clientGo) get(n int) {
	if _, ok := c.store.Get(c.names[n]); !ok {
		panic("not found")
	}
}

func (c *clientGo) update(n int, moved bool) { c.store.Update(c.names[n], c.next(n, moved)) }

func (c *clientGo) all() (count int) {
	for range c.store.List() {
		count++
	}
	return count
}

func (c *clientGo) node(n int) (count int) {
	found, err := c.store.ByIndex(byNode, c.nodes[n%len(c.nodes)])
	if err != nil {
		panic(err)
	}
	for range found {
		count++
	}
	return count
}

// textbook is the store of package plain.
type textbook struct {
	*fixture
	store *plain.Store[*corev1.Pod]
}

func newTextbook(objects int) *textbook {
	p := &textbook{fixture: newFixture(objects), store: plain.NewStore(map[string]plain.IndexFunc[*corev1.Pod]{
		cache.NamespaceIndex: func(pod *corev1.Pod) ([]string, error) { return []string{pod.Namespace}, nil },
		byNode:               func(pod *corev1.Pod) ([]string, error) { return []string{pod.Spec.NodeName}, nil },
	})}
	for n := range p.keys {
		p.update(n, false)
	}
	return p
}

func (p *textbook) get(n int) {
	if _, ok := p.store.Get(p.keys[n]); !ok {
		panic("not found")
	}
}

func (p *textbook) update(n int, moved bool) {
	if err := p.store.Put(p.next(n, moved)); err != nil {
		panic(err)
	}
}

func (p *textbook) all() (count int) {
	for range p.store.List() {
		count++
	}
	return count
}

func (p *textbook) node(n int) (count int) {
	found, err := p.store.ByIndex(byNode, p.nodes[n%len(p.nodes)])
	if err != nil {
		panic(err)
	}
	for range found {
		count++
	}
	return count
}
