package lab

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
)

// objects are the pods that the laboratory has made. If another client has deleted a pod, the next
// write to the pod removes it from the list.
type objects struct {
	server *apitest.Server

	mu      sync.Mutex // guards following: one write at a time
	keys    []types.NamespacedName
	created int
	writes  int
}

var errNoPod = errors.New("there is no pod: create some")

func (o *objects) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.keys)
}

// populate creates pods.
func (o *objects) populate(all iter.Seq[*corev1.Pod]) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for pod := range all {
		if err := o.createLocked(pod); err != nil {
			return err
		}
	}
	return nil
}

// create creates n pods.
func (o *objects) create(n int) error {
	return o.populate(func(yield func(*corev1.Pod) bool) {
		for range n {
			if !yield(o.newPodLocked()) {
				return
			}
		}
	})
}

// newPodLocked makes a pod with a unique name.
func (o *objects) newPodLocked() (pod *corev1.Pod) {
	o.created++
	for pod = range apitest.Pods(1, apitest.PodOptions{Namespaces: 1, Nodes: 5, Seed: uint64(o.created)}) {
		pod.Name, pod.Namespace, pod.UID = fmt.Sprintf("new-%d", o.created), fmt.Sprintf("ns-%d", o.created%3), ""
	}
	return pod
}

func (o *objects) createLocked(pod *corev1.Pod) error {
	_, err := o.server.Create(pod)
	if err == nil {
		o.keys = append(o.keys, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	}
	return err
}

// update updates the newest n pods, and returns how many it updated.
func (o *objects) update(n int) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := max(len(o.keys)-n, 0)
	n = len(o.keys) - first
	if n == 0 {
		return 0, errNoPod
	}
	for at := len(o.keys) - 1; at >= first; at-- {
		if err := o.writeLocked(at); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// updateHot updates one pod n times. It uses the same pod in every call, as long as that pod
// exists.
func (o *objects) updateHot(n int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for range n {
		if len(o.keys) == 0 {
			return errNoPod
		}
		if err := o.writeLocked(0); err != nil {
			return err
		}
	}
	return nil
}

func (o *objects) writeLocked(at int) error {
	pod, err := o.server.Get(pods, o.keys[at])
	if apierrors.IsNotFound(err) {
		o.forgetLocked(at)
		return nil
	}
	if err != nil {
		return err
	}
	o.writes++
	annotations := pod.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["kinform.io/writes"] = strconv.Itoa(o.writes)
	pod.SetAnnotations(annotations)
	pod.SetResourceVersion("") // without a version, because others may write as well
	_, err = o.server.Update(pod)
	return err
}

// remove deletes the newest n pods, and returns how many it deleted.
func (o *objects) remove(n int) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n = min(n, len(o.keys))
	for i := range n {
		if err := o.removeLocked(len(o.keys) - 1); err != nil {
			return i, err
		}
	}
	return n, nil
}

func (o *objects) removeLocked(at int) error {
	err := o.server.Delete(pods, o.keys[at])
	if err == nil || apierrors.IsNotFound(err) {
		o.forgetLocked(at)
		err = nil
	}
	return err
}

// forgetLocked removes a pod from the list. The order of the remaining pods stays the same, because
// the first pod is the hot one.
func (o *objects) forgetLocked(at int) { o.keys = append(o.keys[:at], o.keys[at+1:]...) }

// writeOther writes n objects of another resource. The server's version grows, but a watch of pods
// gets no event.
func (o *objects) writeOther(n int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	resource, note := corev1.SchemeGroupVersion.WithResource("configmaps"), &corev1.ConfigMap{}
	note.Namespace, note.Name = "default", "other"
	for range n {
		if _, err := o.server.Create(note); err != nil {
			return err
		}
		if err := o.server.Delete(resource, types.NamespacedName{Namespace: note.Namespace, Name: note.Name}); err != nil {
			return err
		}
	}
	return nil
}

// churn makes one random write: mostly an update, sometimes a creation or a deletion.
func (o *objects) churn() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch n := rand.IntN(8); {
	case n == 0 || len(o.keys) == 0:
		return o.createLocked(o.newPodLocked())
	case n == 1 && len(o.keys) > 1:
		return o.removeLocked(1 + rand.IntN(len(o.keys)-1))
	default:
		return o.writeLocked(rand.IntN(len(o.keys)))
	}
}
