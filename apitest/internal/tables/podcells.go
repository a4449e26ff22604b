package tables

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// podCells returns the name, READY, STATUS, RESTARTS and the further columns of a pod, as kubectl
// shows them. The status is the phase, unless a container has a more specific reason.
func podCells(pod *corev1.Pod) []any {
	p := podSummary{pod: pod, status: or(pod.Status.Reason, string(pod.Status.Phase)), total: len(pod.Spec.Containers)}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			p.status = corev1.PodReasonSchedulingGated
		}
	}
	if initialized := p.initContainers(); initialized || apiobject.HasPodCondition(pod, corev1.PodInitialized) {
		p.containers()
	}
	switch {
	case pod.DeletionTimestamp == nil:
	case pod.Status.Reason == "NodeLost":
		p.status = "Unknown"
	case pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed:
		p.status = "Terminating"
	}
	restarts := strconv.Itoa(p.restarts)
	if p.restarts > 0 && !p.lastRestart.IsZero() {
		restarts = fmt.Sprintf("%d (%s ago)", p.restarts, age(p.lastRestart))
	}
	ip, gates := "", "<none>"
	if len(pod.Status.PodIPs) > 0 {
		ip = pod.Status.PodIPs[0].IP
	}
	if n := len(pod.Spec.ReadinessGates); n > 0 {
		open := 0
		for _, gate := range pod.Spec.ReadinessGates {
			if apiobject.HasPodCondition(p.pod, gate.ConditionType) {
				open++
			}
		}
		gates = fmt.Sprintf("%d/%d", open, n)
	}
	return []any{pod.Name, fmt.Sprintf("%d/%d", p.ready, p.total), p.status, restarts, age(pod.CreationTimestamp),
		orNone(ip), orNone(pod.Spec.NodeName), orNone(pod.Status.NominatedNodeName), gates}
}

// podSummary has the values of the cells of a pod.
type podSummary struct {
	pod                    *corev1.Pod
	status                 string
	ready, total, restarts int
	lastRestart            metav1.Time // time of the last restart
}

// addRestarts adds the restarts of a container.
func (p *podSummary) addRestarts(c corev1.ContainerStatus) {
	p.restarts += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && p.lastRestart.Before(&t.FinishedAt) {
		p.lastRestart = t.FinishedAt
	}
}

// initContainers counts the init containers, and reports whether all of them have succeeded or run
// as sidecars. Until the pod is initialized, it adds the restarts of all init containers. After
// that, it adds only the restarts of sidecars. The method containers then adds the restarts of the
// other containers.
func (p *podSummary) initContainers() bool {
	isSidecar := map[string]bool{}
	for _, c := range p.pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			isSidecar[c.Name] = true
			p.total++
		}
	}
	sidecars := podSummary{}
	for i, c := range p.pod.Status.InitContainerStatuses {
		p.addRestarts(c)
		if isSidecar[c.Name] {
			sidecars.addRestarts(c)
		}
		switch ended := c.State.Terminated; {
		case ended != nil && ended.ExitCode == 0:
			continue
		case isSidecar[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				p.ready++
			}
			continue
		case ended != nil:
			p.status = "Init:" + terminatedText(ended)
		case c.State.Waiting != nil && c.State.Waiting.Reason != "" && c.State.Waiting.Reason != "PodInitializing":
			p.status = "Init:" + c.State.Waiting.Reason
		default:
			p.status = fmt.Sprintf("Init:%d/%d", i, len(p.pod.Spec.InitContainers))
		}
		if apiobject.HasPodCondition(p.pod, corev1.PodInitialized) {
			p.restarts, p.lastRestart = sidecars.restarts, sidecars.lastRestart
		}
		return false
	}
	p.restarts, p.lastRestart = sidecars.restarts, sidecars.lastRestart
	return true
}

// containers processes the containers in reverse order, so that the first container decides the
// status.
func (p *podSummary) containers() {
	running, failed := false, ""
	for _, c := range slices.Backward(p.pod.Status.ContainerStatuses) {
		p.addRestarts(c)
		switch ended := c.State.Terminated; {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			p.status = c.State.Waiting.Reason
		case ended != nil:
			p.status = terminatedText(ended)
			if ended.ExitCode != 0 {
				failed = p.status
			}
		case c.Ready && c.State.Running != nil:
			running = true
			p.ready++
		}
	}
	if p.status == "Completed" {
		switch {
		case running && apiobject.HasPodCondition(p.pod, corev1.PodReady):
			p.status = "Running"
		case failed != "":
			p.status = failed
		case running:
			p.status = "NotReady"
		}
	}
}

func terminatedText(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}
