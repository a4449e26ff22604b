package workloads

import (
	"context"
	"fmt"
	"maps"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/podmaker"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// defaultNode is the node to which all pods are bound if the server has no nodes.
const defaultNode = "apitest"

// podRunner does the work of a scheduler and a kubelet: it binds pods to nodes, makes them run at
// once, and terminates deleted pods.
type podRunner struct {
	cluster       Cluster
	pods, nodes   *storage.Resource
	toRun         map[types.NamespacedName]bool
	unschedulable map[types.NamespacedName]bool // pods that do not fit on any node
	made          int                           // number of pods that have got an address
}

// RunPods is the loop of the pod runner. It returns when ctx ends.
func RunPods(ctx context.Context, c Cluster) {
	r := &podRunner{
		cluster: c, pods: c.Store.ResourceOfGoType(reflect.TypeFor[corev1.Pod]()), nodes: c.Store.ResourceOfGoType(reflect.TypeFor[corev1.Node]()),
		toRun: map[types.NamespacedName]bool{}, unschedulable: map[types.NamespacedName]bool{},
	}
	RunLoop(ctx, c.Store, ChangeLoop{
		Start: func() {
			stored, _ := c.Store.Snapshot(r.pods)
			for rev := range stored.InNamespace("") {
				r.toRun[rev.Key] = true
			}
		},
		Change: func(write *storage.Change) {
			switch {
			case write.Data == r.pods.Data && write.Cur != nil:
				r.toRun[write.Cur.Key] = true
			case write.Data == r.nodes.Data:
				maps.Copy(r.toRun, r.unschedulable)
				clear(r.unschedulable)
			}
		},
		OnIdle: r.runDue,
	})
}

func (r *podRunner) runDue() {
	for key := range r.toRun {
		delete(r.toRun, key)
		if err := r.advance(key); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			// NotFound and Conflict are not logged, because another change of the pod follows.
			r.cluster.Logger.Warn("apitest cannot run a pod", "key", key, "err", err)
		}
	}
}

// advance advances a pod as far as possible.
func (r *podRunner) advance(key types.NamespacedName) error {
	rev, err := r.cluster.ModifyUnchecked(r.pods, key, false, func(old *storage.Revision) (apiobject.Object, error) {
		pod := old.Object().(*corev1.Pod)
		switch {
		case pod.DeletionTimestamp != nil:
			r.terminatePod(pod)
		case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		case pod.Spec.NodeName != "" || r.bind(pod):
			r.startPod(pod)
		}
		return pod, nil
	})
	if err != nil {
		return err
	}
	if pod := rev.Object(); pod.GetDeletionTimestamp() != nil {
		now, uid := int64(0), pod.GetUID()
		_, _, err = r.cluster.Remove(r.pods, key, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &uid}})
	}
	return err
}

// bind assigns a node to a pod, unless the pod names another scheduler or has a scheduling gate.
func (r *podRunner) bind(pod *corev1.Pod) bool {
	if name := pod.Spec.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
		return false
	}
	if len(pod.Spec.SchedulingGates) > 0 {
		apiobject.SetPodCondition(pod, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonSchedulingGated)
		return false
	}
	nodes, _ := r.cluster.Store.Snapshot(r.nodes)
	var names []string
	for rev := range nodes.InNamespace("") {
		if node := rev.Object().(*corev1.Node); !node.Spec.Unschedulable && matchesNode(pod, node) {
			names = append(names, node.Name)
		}
	}
	switch {
	case len(names) > 0:
		pod.Spec.NodeName = names[r.made%len(names)]
	case nodes.Len > 0:
		r.unschedulable[apiobject.Key(pod)] = true
		apiobject.SetPodCondition(pod, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable)
		return false
	default:
		pod.Spec.NodeName = defaultNode
	}
	return true
}

func matchesNode(pod *corev1.Pod, node *corev1.Node) bool {
	for key, value := range pod.Spec.NodeSelector {
		if node.Labels[key] != value {
			return false
		}
	}
	return true
}

// startPod starts a pod that has a node. The pod becomes ready if its readiness gates allow that.
func (r *podRunner) startPod(pod *corev1.Pod) {
	status := &pod.Status
	apiobject.SetPodCondition(pod, corev1.PodScheduled, corev1.ConditionTrue, "")
	if status.Phase != corev1.PodRunning {
		began := apiobject.Now()
		status.Phase, status.StartTime = corev1.PodRunning, &began
		if len(status.PodIPs) == 0 {
			r.made++
			ip := fmt.Sprintf("10.%d.%d.%d", 244+r.made>>16, r.made>>8&0xff, r.made&0xff)
			status.PodIP, status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
			status.HostIP, status.HostIPs = "192.0.2.1", []corev1.HostIP{{IP: "192.0.2.1"}}
		}
		running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}
		status.ContainerStatuses, status.InitContainerStatuses = nil, nil
		for _, c := range pod.Spec.Containers {
			status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(c, running, true))
		}
		for _, c := range pod.Spec.InitContainers {
			state := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: began, FinishedAt: began}}
			if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				state = running
			}
			status.InitContainerStatuses = append(status.InitContainerStatuses, containerStatus(c, state, state.Running != nil))
		}
	}
	apiobject.SetPodCondition(pod, corev1.PodReadyToStartContainers, corev1.ConditionTrue, "")
	apiobject.SetPodCondition(pod, corev1.PodInitialized, corev1.ConditionTrue, "")
	apiobject.SetPodCondition(pod, corev1.ContainersReady, corev1.ConditionTrue, "")
	for _, gate := range pod.Spec.ReadinessGates {
		if !apiobject.HasPodCondition(pod, gate.ConditionType) {
			apiobject.SetPodCondition(pod, corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady")
			return
		}
	}
	apiobject.SetPodCondition(pod, corev1.PodReady, corev1.ConditionTrue, "")
}

func containerStatus(c corev1.Container, state corev1.ContainerState, started bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: podmaker.ImageID(c.Image), State: state, Started: &started, Ready: true,
		ContainerID: "containerd://apitest-" + c.Name,
	}
}

// terminatePod terminates the containers of a pod.
func (r *podRunner) terminatePod(pod *corev1.Pod) {
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if c.State.Running == nil {
			continue
		}
		c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: c.State.Running.StartedAt, FinishedAt: apiobject.Now(), ContainerID: c.ContainerID,
		}}
		c.Ready, c.Started = false, new(false)
		apiobject.SetPodCondition(pod, corev1.PodReady, corev1.ConditionFalse, "PodFailed")
		apiobject.SetPodCondition(pod, corev1.ContainersReady, corev1.ConditionFalse, "PodFailed")
	}
}

// GracePeriod returns how many seconds a deleted pod stays until its containers have ended. The
// runner ends containers at once, but only after clients could see the deletion. The result is 0
// for objects that are deleted immediately.
func GracePeriod(obj apiobject.Object, opts metav1.DeleteOptions) int64 {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return 0
	}
	switch {
	case opts.GracePeriodSeconds != nil:
		return max(*opts.GracePeriodSeconds, 0)
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return max(*pod.Spec.TerminationGracePeriodSeconds, 0)
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}
