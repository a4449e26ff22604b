package podmaker

import (
	"fmt"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// workloadKinds are the workloads of each hundred pods of a namespace. A few workloads have many
// replicas, and many have few. A workload has 6 pods on average, and a random pod has on average 12
// other pods in its workload.
var workloadKinds = []struct {
	kind     string
	replicas int
}{
	{"Deployment", 30}, {"StatefulSet", 3}, {"Deployment", 3}, {"Deployment", 2}, {"DaemonSet", 10}, {"Deployment", 12},
	{"Job", 1}, {"Deployment", 5}, {"StatefulSet", 5}, {"Deployment", 1}, {"Deployment", 3}, {"Job", 3},
	{"Deployment", 6}, {"StatefulSet", 3}, {"Deployment", 2}, {"DaemonSet", 8}, {"Deployment", 1}, {"Job", 2},
}

// workload is the common state of the pods of one Deployment, StatefulSet, DaemonSet or Job.
type workload struct {
	index    int // position among the workloads of its namespace
	kind     string
	first    int // position of its first pod among the pods of its namespace
	replicas int
	rollout  int64 // when its pods were made, in seconds after epoch

	// template is a pod before the API server, the scheduler and the kubelet change it.
	template *corev1.Pod
	fields   string // the controller's managed fields
}

// workloadOf finds the workload of the n-th pod of a namespace.
func workloadOf(n int) (w workload) {
	w.index = n / 100 * len(workloadKinds)
	w.first = n / 100 * 100
	for _, k := range workloadKinds {
		w.kind, w.replicas = k.kind, k.replicas
		if n < w.first+k.replicas {
			break
		}
		w.first += k.replicas
		w.index++
	}
	return w
}

// fillTemplate creates the template of the workload.
func (m *Maker) fillTemplate(w *workload, namespace string, number int) {
	random := rand.New(rand.NewPCG(m.seed, 1<<40+uint64(number)<<20+uint64(w.index)))
	w.rollout = random.Int64N(90 * 24 * 3600)
	app := fmt.Sprintf("app-%d", w.index)
	owner := metav1.OwnerReference{
		APIVersion: "apps/v1", Kind: w.kind, Name: app, UID: uid(random), Controller: new(true), BlockOwnerDeletion: new(true),
	}
	labels := map[string]string{
		"app.kubernetes.io/name":     app,
		"app.kubernetes.io/instance": app + "-" + namespace,
		"app.kubernetes.io/version":  fmt.Sprintf("1.%d.%d", random.IntN(7), random.IntN(20)),
		"tier":                       []string{"frontend", "backend", "data"}[w.index%3],
	}
	hash := fmt.Sprintf("%x", random.Uint64())[:10]
	switch w.kind {
	case "Deployment":
		owner.Kind, owner.Name = "ReplicaSet", app+"-"+hash
		labels["pod-template-hash"] = hash
	case "StatefulSet":
		labels["controller-revision-hash"] = app + "-" + hash
	case "DaemonSet":
		labels["controller-revision-hash"], labels["pod-template-generation"] = hash, "3"
	case "Job":
		owner.APIVersion = "batch/v1"
		labels["batch.kubernetes.io/controller-uid"], labels["batch.kubernetes.io/job-name"] = string(owner.UID), app
		labels["controller-uid"], labels["job-name"] = string(owner.UID), app
	}
	w.template = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, GenerateName: owner.Name + "-", Generation: 1, Labels: labels,
			Annotations: map[string]string{
				"checksum/config":      fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()),
				"prometheus.io/scrape": "true",
			},
			OwnerReferences: []metav1.OwnerReference{owner},
		},
		Spec: w.spec(app, random),
	}
	// Templates of one kind have the same fields, except for the UID of the owner.
	if m.fields[w.kind] == "" {
		if m.fields == nil {
			m.fields = make(map[string]string)
		}
		m.fields[w.kind] = strings.ReplaceAll(fieldSetOf(w.template), string(owner.UID), uidPlaceholder)
	}
	w.fields = strings.ReplaceAll(m.fields[w.kind], uidPlaceholder, string(owner.UID))
}

// uidPlaceholder stands for a UID in a template.
const uidPlaceholder = "UID"

// spec returns the pod spec of the workload's template, with the API server's defaults.
func (w *workload) spec(app string, random *rand.Rand) corev1.PodSpec {
	spec := corev1.PodSpec{
		Containers: []corev1.Container{
			newContainer("main", "registry.example.com/"+app+":1.0", 8080, fmt.Sprintf("%dm", 50*(1+random.IntN(4))), newEnv(random)),
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: app + "-config"}, DefaultMode: new(int32(0o644)),
			}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		},
		RestartPolicy:                 corev1.RestartPolicyAlways,
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            app,
		DeprecatedServiceAccount:      app,
		SchedulerName:                 corev1.DefaultSchedulerName,
		SecurityContext:               &corev1.PodSecurityContext{},
		EnableServiceLinks:            new(true),
		TerminationGracePeriodSeconds: new(int64(30)),
	}
	switch w.kind {
	case "Deployment":
		spec.Containers = append(spec.Containers, newContainer("sidecar", "registry.example.com/proxy:2.3", 15001, "100m", newEnv(nil)[4:]))
	case "Job":
		spec.RestartPolicy = corev1.RestartPolicyNever
	}
	return spec
}

// newEnv returns the environment of a container. With a random source it is specific to a
// workload. With nil it is always the same.
func newEnv(random *rand.Rand) []corev1.EnvVar {
	env := make([]corev1.EnvVar, 8)
	for i := range env {
		value := "default"
		if random != nil {
			value = fmt.Sprintf("%x", random.Uint64())
		}
		env[i] = corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: value}
	}
	env[5].Value, env[5].ValueFrom = "", &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"},
	}
	env[6].Value, env[6].ValueFrom = "", &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "credentials"}, Key: "password"},
	}
	return env
}

func newContainer(name, image string, port int32, cpu string, env []corev1.EnvVar) corev1.Container {
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: path, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP,
			}},
			TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
		}
	}
	return corev1.Container{
		Name:  name,
		Image: image,
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Env:   env,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: quantity.MustParse(cpu), corev1.ResourceMemory: quantity.MustParse("128Mi")},
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

// uid makes a version 4 UUID.
func uid(random *rand.Rand) types.UID {
	high, low := random.Uint64()&^0xf000|0x4000, random.Uint64()&^(3<<62)|1<<63
	return types.UID(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1)))
}
