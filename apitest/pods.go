package apitest

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		maker := podMaker{opts: opts}
		for i := range n {
			if !yield(maker.pod(i, fmt.Sprintf("pod-%06d", i))) {
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

// podMaker makes pods. For each namespace, it keeps the last workload.
type podMaker struct {
	opts      PodOptions
	workloads map[int]*workload // the last workload of each namespace, by the namespace's number
	fields    map[string]string // managed fields of the controller, by the kind of workload
}

// pod makes the i-th pod, with this name.
func (m *podMaker) pod(i int, name string) *corev1.Pod {
	namespaces := cmp.Or(m.opts.Namespaces, 10)
	number, n := i%namespaces, i/namespaces
	w := m.workloads[number]
	if w == nil || n < w.first || n >= w.first+w.replicas {
		made := workloadOf(n)
		m.fillTemplate(&made, fmt.Sprintf("ns-%d", number), number)
		if m.workloads == nil {
			m.workloads = make(map[int]*workload)
		}
		w = &made
		m.workloads[number] = w
	}
	random := rand.New(rand.NewPCG(m.opts.Seed, uint64(i)))
	node := random.IntN(cmp.Or(m.opts.Nodes, 100))
	ip := fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)
	made := metav1.Unix(epoch+w.rollout+int64(n-w.first)*3+random.Int64N(3), 0)

	pod := w.template.DeepCopy()
	pod.Name = name
	if w.kind == "StatefulSet" {
		pod.Labels["statefulset.kubernetes.io/pod-name"], pod.Labels["apps.kubernetes.io/pod-index"] = name, fmt.Sprint(n-w.first)
		pod.Spec.Hostname = name
		pod.Spec.Volumes[1].VolumeSource = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: "data-" + name,
		}}
	}
	applyAdmission(pod, random)
	pod.Spec.NodeName = fmt.Sprintf("node-%d", node)
	ready := setRunningStatus(pod, made, fmt.Sprintf("192.168.%d.%d", node>>8, node&255), ip, random)
	pod.ManagedFields = []metav1.ManagedFieldsEntry{
		managedEntry("kube-controller-manager", "", made, w.fields),
		managedEntry("kubelet", "status", ready, fmt.Sprintf(kubeletFields, ip)),
	}
	return pod
}

// epoch is the creation time of the cluster in Unix time. The time is fixed, so that the same seed
// gives the same pods.
const epoch = 1767323045 // 2026-01-02 03:04:05 UTC
