package podmaker

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// applyAdmission makes the changes that admission makes: it adds tolerations, a priority, and the
// volume with the service account's token, which every container mounts.
func applyAdmission(pod *corev1.Pod, random *rand.Rand) {
	name := "kube-api-access-" + suffix(random)
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: new(int32(0o644)),
			Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
				{ConfigMap: &corev1.ConfigMapProjection{
					LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
					Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
				}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
					Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"},
				}}}},
			},
		},
	}})
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{
			Name: name, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount",
		})
	}
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
		})
	}
	pod.Spec.Priority = new(int32(0))
	pod.Spec.PreemptionPolicy = new(corev1.PreemptLowerPriority)
}

// setRunningStatus sets the status that the kubelet reports when all containers are ready. ready is
// the time at which the containers became ready.
func setRunningStatus(pod *corev1.Pod, made metav1.Time, host, ip string, random *rand.Rand) (ready metav1.Time) {
	up := metav1.NewTime(made.Add(time.Duration(1+random.IntN(5)) * time.Second))
	ready = metav1.NewTime(up.Add(time.Duration(1+random.IntN(60)) * time.Second))
	status := &pod.Status
	*status = corev1.PodStatus{
		ObservedGeneration: 1, Phase: corev1.PodRunning, StartTime: &made, QOSClass: corev1.PodQOSBurstable,
		HostIP: host, HostIPs: []corev1.HostIP{{IP: host}}, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
	}
	for _, c := range []struct {
		name corev1.PodConditionType
		at   metav1.Time
	}{
		{corev1.PodReadyToStartContainers, up}, {corev1.PodInitialized, made}, {corev1.PodReady, ready},
		{corev1.ContainersReady, ready}, {corev1.PodScheduled, made},
	} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{
			Type: c.name, ObservedGeneration: 1, Status: corev1.ConditionTrue, LastTransitionTime: c.at,
		})
	}
	for i := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, runningStatus(&pod.Spec.Containers[i], up, random))
	}
	return ready
}

// runningStatus returns the status of a running container.
func runningStatus(c *corev1.Container, since metav1.Time, random *rand.Rand) corev1.ContainerStatus {
	status := corev1.ContainerStatus{
		Name: c.Name, Ready: true, Started: new(true), Image: c.Image, ImageID: ImageID(c.Image), ContainerID: containerID(random),
		State:              corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		AllocatedResources: maps.Clone(c.Resources.Requests),
		Resources:          c.Resources.DeepCopy(),
	}
	for _, m := range c.VolumeMounts {
		s := corev1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			s.RecursiveReadOnly = new(corev1.RecursiveReadOnlyDisabled)
		}
		status.VolumeMounts = append(status.VolumeMounts, s)
	}
	return status
}

// RestartContainer changes a pod as the kubelet does after a restart of the first container.
func RestartContainer(pod *corev1.Pod) {
	if len(pod.Status.ContainerStatuses) == 0 {
		return
	}
	status := &pod.Status.ContainerStatuses[0]
	status.RestartCount++
	ended := metav1.Unix(epoch+90*24*3600+int64(status.RestartCount)*307, 0)
	if r := status.State.Running; r != nil {
		status.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 1, Reason: "Error", StartedAt: r.StartedAt, FinishedAt: ended, ContainerID: status.ContainerID,
		}}
	}
	began := metav1.NewTime(ended.Add(time.Second))
	ready := metav1.NewTime(ended.Add(11 * time.Second))
	status.ContainerID = containerID(rand.New(rand.NewPCG(seedOf(pod.Namespace+"/"+pod.Name), uint64(status.RestartCount))))
	status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.LastTransitionTime = ready
		}
	}
	for i := range pod.ManagedFields {
		if m := &pod.ManagedFields[i]; m.Manager == "kubelet" {
			m.Time = &ready
		}
	}
}

func containerID(random *rand.Rand) string { return "containerd://" + digest(random) }

// ImageID returns the id of an image. Equal images have equal ids.
func ImageID(image string) string {
	return image + "@sha256:" + digest(rand.New(rand.NewPCG(seedOf(image), 5)))
}

// seedOf returns a seed for a text. Equal texts have equal seeds.
func seedOf(text string) (seed uint64) {
	for _, c := range []byte(text) {
		seed = seed*31 + uint64(c)
	}
	return seed
}

func digest(random *rand.Rand) string {
	var sum [32]byte
	for i := range len(sum) / 8 {
		binary.BigEndian.PutUint64(sum[8*i:], random.Uint64())
	}
	return hex.EncodeToString(sum[:])
}

// suffix returns the random end of a generated name.
func suffix(random *rand.Rand) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	name := make([]byte, 5)
	for i := range name {
		name[i] = letters[random.IntN(len(letters))]
	}
	return string(name)
}
