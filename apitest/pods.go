package apitest

import (
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest/internal/podmaker"
)

// PodOptions are the options of [Pods]. The zero value works.
type PodOptions struct {
	// Namespaces is the number of namespaces of the pods, named "ns-0" and so on. Must not be
	// negative. Defaults to 10.
	Namespaces int

	// Nodes is the number of nodes of the pods, named "node-0" and so on. Must not be negative.
	// Defaults to 100.
	Nodes int

	// Seed determines all random values. The default 0 is a valid seed.
	Seed uint64
}

// Pods makes n realistic running pods. Each pod has about 10 KB in JSON and 7 KB in protobuf, of
// which 4 KB are managed fields. The i-th pod is in namespace i modulo Namespaces. Its name is
// "pod-" followed by i in six digits. The same options give the same pods. A pod is made when the
// iteration reaches it, and belongs to the receiver.
//
// A pod comes from the template of a workload of 1 to 30 pods: a ReplicaSet, a StatefulSet, a
// DaemonSet or a Job. Pods of a workload share owner, containers and the controller's managed
// fields. Each pod has its own token volume, addresses, container IDs and times.
func Pods(n int, opts PodOptions) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		maker := podmaker.New(opts.Namespaces, opts.Nodes, opts.Seed)
		for i := range n {
			if !yield(maker.Pod(i, fmt.Sprintf("pod-%06d", i))) {
				return
			}
		}
	}
}

// Populate creates objects like [Server.Create], until a create fails. The objects may come from
// [Pods]. The server stores objects in protobuf, so the first list in JSON has to encode all of
// them. Later lists do not.
func Populate[T Object](s *Server, objects iter.Seq[T]) error {
	for obj := range objects {
		res, stored, err := s.toStored(obj)
		if err == nil {
			_, err = s.insert(res, stored, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RestartContainer changes a pod of [Pods] as the kubelet does after a restart of the first
// container. It changes the container's status, the times of the conditions, and the time of the
// kubelet's managed fields. The result depends only on the pod and the container's number of
// restarts.
func RestartContainer(pod *corev1.Pod) { podmaker.RestartContainer(pod) }
