package apitest

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
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

// Pods makes n running pods of the size that pods have in clusters, about 5 KB in
// JSON and 3 KB in protobuf: two containers with eight environment variables and
// probes, volumes, five labels, two managers of fields, and a full status. The
// i-th is named "pod-" and i in six digits; the same options give the same pods.
//
// Each is made when the iteration comes to it, and belongs to the receiver.
func Pods(n int, opts PodOptions) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		random := rand.New(rand.NewPCG(opts.Seed, 3))
		for i := range n {
			if !yield(newPod(i, opts, random)) {
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

func newPod(i int, opts PodOptions, random *rand.Rand) *corev1.Pod {
	namespace := fmt.Sprintf("ns-%d", i%cmp.Or(opts.Namespaces, 10))
	node := fmt.Sprintf("node-%d", random.IntN(cmp.Or(opts.Nodes, 100)))
	name := fmt.Sprintf("pod-%06d", i)
	app := fmt.Sprintf("app-%d", i%50)
	hash := fmt.Sprintf("%08x", random.Uint32())
	ip := fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)
	controller := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:         name,
			Namespace:    namespace,
			GenerateName: app + "-" + hash + "-",
			Labels: map[string]string{
				"app.kubernetes.io/name":     app,
				"app.kubernetes.io/instance": app + "-" + namespace,
				"app.kubernetes.io/version":  fmt.Sprintf("1.%d.%d", i%7, random.IntN(20)),
				"pod-template-hash":          hash,
				"tier":                       []string{"frontend", "backend", "data"}[i%3],
			},
			Annotations: map[string]string{
				"checksum/config":      fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()),
				"prometheus.io/scrape": "true",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-" + hash, Controller: &controller,
				UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", random.Uint32(), i)),
			}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				managed("kube-controller-manager", "", `{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{}},"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:pod-template-hash":{},"f:tier":{}},"f:ownerReferences":{".":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{},"f:image":{},"f:livenessProbe":{},"f:readinessProbe":{},"f:resources":{}}},"f:volumes":{}}}`),
				managed("kubelet", "status", `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:lastTransitionTime":{},"f:status":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:startTime":{}}}`),
			},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{
				newContainer("main", "registry.example.com/"+app+":1.0", 8080, random),
				newContainer("sidecar", "registry.example.com/proxy:2.3", 15001, random),
			},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: name + "-config"},
				}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
					ClaimName: name + "-data",
				}}},
			},
			NodeName:           node,
			RestartPolicy:      corev1.RestartPolicyAlways,
			DNSPolicy:          corev1.DNSClusterFirst,
			ServiceAccountName: app,
			SchedulerName:      corev1.DefaultSchedulerName,
			Tolerations: []corev1.Toleration{
				{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
				{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
			},
		},
		Status: newPodStatus(ip, random),
	}
}

// started is when every pod began to run: a fixed time, so that the same seed
// gives the same pods.
var started = metav1.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

func managed(manager, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &started,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource,
	}
}

func newContainer(name, image string, port int32, random *rand.Rand) corev1.Container {
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: path, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP,
			}},
			TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
		}
	}
	env := make([]corev1.EnvVar, 8)
	for i := range env {
		env[i] = corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: fmt.Sprintf("%s-%x", name, random.Uint32())}
	}
	return corev1.Container{
		Name:  name,
		Image: image,
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Env:   env,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: quantity.MustParse("100m"), corev1.ResourceMemory: quantity.MustParse("128Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: quantity.MustParse("256Mi")},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/" + name, ReadOnly: true},
			{Name: "data", MountPath: "/var/lib/" + name},
		},
		LivenessProbe:            probe("/healthz"),
		ReadinessProbe:           probe("/readyz"),
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		ImagePullPolicy:          corev1.PullIfNotPresent,
	}
}

func newPodStatus(ip string, random *rand.Rand) corev1.PodStatus {
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: "192.168.0.1", PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		StartTime: &started, QOSClass: corev1.PodQOSBurstable,
	}
	for _, condition := range []corev1.PodConditionType{
		corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
	} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: started,
		})
	}
	for _, name := range []string{"main", "sidecar"} {
		digest := strings.Repeat(fmt.Sprintf("%016x", random.Uint64()), 4)
		ready := true
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, Ready: true, Started: &ready, Image: "registry.example.com/" + name,
			ImageID:     "registry.example.com/" + name + "@sha256:" + digest,
			ContainerID: "containerd://" + digest,
			State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		})
	}
	return status
}
