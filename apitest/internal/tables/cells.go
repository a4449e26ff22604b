package tables

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// These functions return the cells of types that need more than a few lines of code. The function
// addColumns adds each of them with its headings.

func serviceCells(s *corev1.Service) []any {
	kind := s.Spec.Type
	if kind == "" {
		kind = corev1.ServiceTypeClusterIP // the default of the real server
	}
	ip := s.Spec.ClusterIP
	if len(s.Spec.ClusterIPs) > 0 {
		ip = s.Spec.ClusterIPs[0]
	}
	var outside []string
	none := "<none>"
	switch kind {
	case corev1.ServiceTypeLoadBalancer:
		for _, in := range s.Status.LoadBalancer.Ingress {
			outside = append(outside, or(in.IP, in.Hostname))
		}
		outside = sortedUnique(outside)
		none = "<pending>"
	case corev1.ServiceTypeExternalName:
		outside = []string{s.Spec.ExternalName}
	}
	if kind != corev1.ServiceTypeExternalName {
		outside = append(outside, s.Spec.ExternalIPs...)
	}
	var ports []string
	for _, p := range s.Spec.Ports {
		text := fmt.Sprintf("%d/%s", p.Port, or(string(p.Protocol), "TCP"))
		if p.NodePort > 0 {
			text = fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, or(string(p.Protocol), "TCP"))
		}
		ports = append(ports, text)
	}
	return []any{s.Name, kind, orNone(ip), or(strings.Join(outside, ","), none), orNone(strings.Join(ports, ",")), age(s.CreationTimestamp), labelText(s.Spec.Selector)}
}

func nodeCells(n *corev1.Node) []any {
	status := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			status = "NotReady"
			if c.Status == corev1.ConditionTrue {
				status = "Ready"
			}
		}
	}
	if n.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	var roles []string
	for key, value := range n.Labels {
		if role, ok := strings.CutPrefix(key, "node-role.kubernetes.io/"); ok && role != "" {
			roles = append(roles, role)
		} else if key == "kubernetes.io/role" && value != "" {
			roles = append(roles, value)
		}
	}
	address := func(kind corev1.NodeAddressType) string {
		for _, a := range n.Status.Addresses {
			if a.Type == kind {
				return a.Address
			}
		}
		return "<none>"
	}
	info := n.Status.NodeInfo
	kernel := or(info.KernelVersion, "<unknown>")
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{n.Name, status, orNone(strings.Join(sortedUnique(roles), ",")), age(n.CreationTimestamp), info.KubeletVersion,
		address(corev1.NodeInternalIP), address(corev1.NodeExternalIP), or(info.OSImage, "<unknown>"), kernel, or(info.ContainerRuntimeVersion, "<unknown>")}
}

func eventCells(e *corev1.Event) []any {
	first := age(e.FirstTimestamp)
	if e.FirstTimestamp.IsZero() {
		first = ageOf(e.EventTime.Time)
	}
	last := first
	if !e.LastTimestamp.IsZero() {
		last = age(e.LastTimestamp)
	}
	count := max(e.Count, 1)
	if e.Series != nil {
		last, count = ageOf(e.Series.LastObservedTime.Time), e.Series.Count
	}
	object := strings.ToLower(e.InvolvedObject.Kind)
	if e.InvolvedObject.Name != "" {
		object += "/" + e.InvolvedObject.Name
	}
	source := or(e.Source.Component, e.ReportingController)
	if host := or(e.Source.Host, e.ReportingInstance); host != "" {
		source += ", " + host
	}
	return []any{last, e.Type, e.Reason, object, e.InvolvedObject.FieldPath, source, strings.TrimSpace(e.Message), first, count, e.Name}
}

//lint:ignore SA1019 Deprecated or not, a server has it.
func endpointText(e *corev1.Endpoints) string {
	var addresses []string
	for _, subset := range e.Subsets {
		if len(subset.Ports) == 0 {
			for _, a := range subset.Addresses {
				addresses = append(addresses, a.IP)
			}
		}
		for _, port := range subset.Ports {
			for _, a := range subset.Addresses {
				addresses = append(addresses, net.JoinHostPort(a.IP, decimal(port.Port)))
			}
		}
	}
	if len(e.Subsets) == 0 {
		return "<none>"
	}
	return joinFirst(addresses, 3)
}

func ingressCells(i *networkingv1.Ingress) []any {
	var hosts, addresses []string
	for _, r := range i.Spec.Rules[:min(3, len(i.Spec.Rules))] {
		if r.Host != "" {
			hosts = append(hosts, r.Host)
		}
	}
	host := or(strings.Join(hosts, ","), "*")
	if more := len(i.Spec.Rules) - 3; more > 0 && len(hosts) > 0 {
		host += fmt.Sprintf(" + %d more...", more)
	}
	for _, in := range i.Status.LoadBalancer.Ingress {
		if address := or(in.IP, in.Hostname); address != "" {
			addresses = append(addresses, address)
		}
	}
	ports := "80"
	if len(i.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	return []any{i.Name, apiobject.Deref(i.Spec.IngressClassName, "<none>"), host, strings.Join(sortedUnique(addresses), ","), ports, age(i.CreationTimestamp)}
}

func quotaCells(q *corev1.ResourceQuota) []any {
	var requests, limits []string
	for _, name := range slices.Sorted(maps.Keys(q.Status.Hard)) {
		used, hard := q.Status.Used[name], q.Status.Hard[name]
		text := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, text)
		} else {
			requests = append(requests, text)
		}
	}
	return []any{q.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), age(q.CreationTimestamp)}
}

func jobCells(j *batchv1.Job) []any {
	completions := fmt.Sprintf("%d/1", j.Status.Succeeded)
	if j.Spec.Completions != nil {
		completions = fmt.Sprintf("%d/%d", j.Status.Succeeded, *j.Spec.Completions)
	} else if n := apiobject.Deref(j.Spec.Parallelism, 0); n > 1 {
		completions += fmt.Sprintf(" of %d", n)
	}
	took := ""
	if s := j.Status; s.StartTime != nil && s.CompletionTime != nil {
		took = duration.HumanDuration(s.CompletionTime.Sub(s.StartTime.Time))
	} else if s.StartTime != nil {
		took = duration.HumanDuration(time.Since(s.StartTime.Time))
	}
	has := func(kind batchv1.JobConditionType) bool {
		return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
	}
	status := "Running"
	switch {
	case has(batchv1.JobComplete):
		status = "Complete"
	case has(batchv1.JobFailed):
		status = "Failed"
	case j.DeletionTimestamp != nil:
		status = "Terminating"
	case has(batchv1.JobSuspended):
		status = "Suspended"
	case has(batchv1.JobFailureTarget):
		status = "FailureTarget"
	case has(batchv1.JobSuccessCriteriaMet):
		status = "SuccessCriteriaMet"
	}
	names, images := containerCells(j.Spec.Template.Spec)
	return []any{j.Name, status, completions, took, age(j.CreationTimestamp), names, images, selectorText(j.Spec.Selector)}
}

// targetText shows the targets of an autoscaler, and the current values.
func targetText(h *autoscalingv2.HorizontalPodAutoscaler) string {
	var targets []string
	for i, m := range h.Spec.Metrics {
		var now autoscalingv2.MetricStatus
		if i < len(h.Status.CurrentMetrics) {
			now = h.Status.CurrentMetrics[i]
		}
		var name string
		var target autoscalingv2.MetricTarget
		var current autoscalingv2.MetricValueStatus
		switch {
		case m.Resource != nil:
			name, target = string(m.Resource.Name)+": ", m.Resource.Target
			if now.Resource != nil {
				current = now.Resource.Current
			}
		case m.ContainerResource != nil:
			name, target = string(m.ContainerResource.Name)+": ", m.ContainerResource.Target
			if now.ContainerResource != nil {
				current = now.ContainerResource.Current
			}
		case m.Pods != nil:
			target = m.Pods.Target
			if now.Pods != nil {
				current = now.Pods.Current
			}
		case m.Object != nil:
			target = m.Object.Target
			if now.Object != nil {
				current = now.Object.Current
			}
		case m.External != nil:
			target = m.External.Target
			if now.External != nil {
				current = now.External.Current
			}
		default:
			targets = append(targets, "<unknown type>")
			continue
		}
		is, want := "<unknown>", "<auto>"
		switch {
		case target.AverageValue != nil:
			want = target.AverageValue.String()
			if current.AverageValue != nil {
				is = current.AverageValue.String()
			}
			if m.Object != nil || m.External != nil {
				want += " (avg)"
			}
		case target.Value != nil:
			want = target.Value.String()
			if current.Value != nil {
				is = current.Value.String()
			}
		default:
			if target.AverageUtilization != nil {
				want = percentText(target.AverageUtilization)
			}
			is = percentText(current.AverageUtilization)
		}
		targets = append(targets, name+is+"/"+want)
	}
	text := strings.Join(targets[:min(2, len(targets))], ", ")
	if more := len(targets) - 2; more > 0 {
		text += fmt.Sprintf(" + %d more...", more)
	}
	return orNone(text)
}

func subjectCells(subjects []rbacv1.Subject) []any {
	var users, groups, accounts []string
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, s.Namespace+"/"+s.Name)
		case rbacv1.UserKind:
			users = append(users, s.Name)
		case rbacv1.GroupKind:
			groups = append(groups, s.Name)
		}
	}
	return []any{strings.Join(users, ", "), strings.Join(groups, ", "), strings.Join(accounts, ", ")}
}
