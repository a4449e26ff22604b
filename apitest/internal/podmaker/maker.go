package podmaker

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Maker makes pods. For each namespace, it keeps the last workload.
type Maker struct {
	namespaces, nodes int
	seed              uint64

	workloads map[int]*workload // the last workload of each namespace, by the namespace's number
	fields    map[string]string // managed fields of the controller, by the kind of workload
}

// New returns a maker of pods in this number of namespaces, on this number of nodes. The
// numbers default to 10 and 100.
func New(namespaces, nodes int, seed uint64) *Maker {
	return &Maker{namespaces: cmp.Or(namespaces, 10), nodes: cmp.Or(nodes, 100), seed: seed}
}

// Pod makes the i-th pod, with this name.
func (m *Maker) Pod(i int, name string) *corev1.Pod {
	number, n := i%m.namespaces, i/m.namespaces
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
	random := rand.New(rand.NewPCG(m.seed, uint64(i)))
	node := random.IntN(m.nodes)
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
