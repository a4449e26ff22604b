package apitest

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodOptions shape the pods that [Pods] makes. The zero value works.
type PodOptions struct {
	// Namespaces is over how many namespaces the pods are spread, named "ns-0" and
	// so on. Must not be negative. Defaults to 10.
	Namespaces int

	// Nodes is over how many nodes they are spread, named "node-0" and so on.
	// Must not be negative. Defaults to 100.
	Nodes int

	// Seed determines whatever looks random. Defaults to 0, which is a seed as good
	// as any.
	Seed uint64
}

// Pods makes n running pods as clusters have them, of about 10 KB in JSON and 7 KB in
// protobuf, of which 4 KB are managed fields: a container or two with environment and probes,
// volumes, labels, two managers of fields, and a full status. The i-th is in namespace i modulo
// Namespaces; it is named "pod-" and i in six digits, so that whoever needs one can name
// it. The same options give the same pods.
//
// Each is made from the template of a workload: a Deployment's ReplicaSet, a
// StatefulSet, a DaemonSet or a Job of 1 to 30 pods, which follow each other in the
// namespace. The pods of one workload have the same owner, template hash, environment,
// probes, resources, images and fields that the controller manages. Each pod has for
// itself what it has in a cluster: the volume with its service account's token,
// "kube-api-access-" and five characters, which all of its containers mount; its
// addresses, which are in the fields that the kubelet manages as well; the IDs of its
// containers; and the times of its conditions, containers and managed fields.
//
// Each is made when the iteration comes to it, and belongs to the receiver.
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

// Populate creates objects, such as those of [Pods], as [Server.Create] does, until
// one fails. What the server keeps is protobuf; the first list in JSON takes the
// time to encode them all, later ones don't.
func Populate[T Object](s *Server, objects iter.Seq[T]) error {
	for obj := range objects {
		res, own, err := s.own(obj)
		if err == nil {
			_, err = s.insert(res, own, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// podMaker makes pods. It remembers the workload of each namespace whose pods it made last.
type podMaker struct {
	opts      PodOptions
	workloads map[int]*workload // by the number of the namespace
	fields    map[string]string // that a controller manages, by the kind of workload
}

// pod makes the i-th pod, with a name.
func (m *podMaker) pod(i int, name string) *corev1.Pod {
	namespaces := cmp.Or(m.opts.Namespaces, 10)
	number, n := i%namespaces, i/namespaces
	w := m.workloads[number]
	if w == nil || n < w.first || n >= w.first+w.replicas {
		made := workloadOf(n)
		m.complete(&made, fmt.Sprintf("ns-%d", number), number)
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
	admit(pod, random)
	pod.Spec.NodeName = fmt.Sprintf("node-%d", node)
	ready := start(pod, made, fmt.Sprintf("192.168.%d.%d", node>>8, node&255), ip, random)
	pod.ManagedFields = []metav1.ManagedFieldsEntry{
		managed("kube-controller-manager", "", made, w.fields),
		managed("kubelet", "status", ready, fmt.Sprintf(kubeletFields, ip)),
	}
	return pod
}

// epoch is when the cluster began, in Unix time: fixed, so that the same seed gives the
// same pods.
const epoch = 1767323045 // 2026-01-02 03:04:05 UTC
