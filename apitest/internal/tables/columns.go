package tables

import (
	"reflect"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// typeColumns are the columns of a built-in type. The function parseHeadings documents the notation
// of headings.
type typeColumns struct {
	headings string
	cells    func(apiobject.Object) []any
}

// printers has the columns of the built-in types for which the real server has its own columns. For
// all other types, the columns are the name and the age.
type printers map[reflect.Type]typeColumns

var builtinColumns = func() printers {
	p := printers{}
	addCoreColumns(p)
	addWorkloadColumns(p)
	addPolicyColumns(p)
	addStorageColumns(p)
	return p
}()

// addColumns adds the columns of a type to p.
func addColumns[T any](p printers, headings string, cells func(*T) []any) {
	p[reflect.TypeFor[T]()] = typeColumns{headings, func(obj apiobject.Object) []any { return cells(any(obj).(*T)) }}
}

func addCoreColumns(p printers) {
	addColumns(p, "Name|Ready|Status|Restarts|Age|+IP|+Node|+Nominated Node|+Readiness Gates", podCells)
	addColumns(p, "Name|Containers|Images|Pod Labels", func(t *corev1.PodTemplate) []any {
		names, images := containerCells(t.Template.Spec)
		return []any{t.Name, names, images, labelText(t.Template.Labels)}
	})
	addColumns(p, "Name|Type|Cluster-IP|External-IP|Port(s)|Age|+Selector", serviceCells)
	//lint:ignore SA1019 Deprecated or not, a server has it.
	addColumns(p, "Name|Endpoints|Age", func(e *corev1.Endpoints) []any { return []any{e.Name, endpointText(e), age(e.CreationTimestamp)} })
	addColumns(p, "Name|Status|Roles|Age|Version|+Internal-IP|+External-IP|+OS-Image|+Kernel-Version|+Container-Runtime", nodeCells)
	const events = "Last Seen|Type|Reason|Object|+Subobject|+Source|Message|+First Seen|+Count|+!Name"
	addColumns(p, events, eventCells)
	addColumns(p, events, func(e *eventsv1.Event) []any {
		old := corev1.Event{
			ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Type: e.Type,
			Source: e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp,
			Count: e.DeprecatedCount, EventTime: e.EventTime, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		}
		if e.Series != nil {
			old.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
		}
		return eventCells(&old)
	})
	addColumns(p, "Name|Status|Age", func(n *corev1.Namespace) []any { return []any{n.Name, n.Status.Phase, age(n.CreationTimestamp)} })
	addColumns(p, "Name|Type|Data|Age", func(s *corev1.Secret) []any { return []any{s.Name, s.Type, len(s.Data), age(s.CreationTimestamp)} })
	addColumns(p, "Name|Age", func(s *corev1.ServiceAccount) []any { return []any{s.Name, age(s.CreationTimestamp)} })
	addColumns(p, "Name|Data|Age", func(c *corev1.ConfigMap) []any {
		return []any{c.Name, len(c.Data) + len(c.BinaryData), age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|Request|Limit|Age", quotaCells)
	addColumns(p, "Name|Holder|Age", func(l *coordinationv1.Lease) []any {
		return []any{l.Name, apiobject.Deref(l.Spec.HolderIdentity, ""), age(l.CreationTimestamp)}
	})
	addColumns(p, "Name|LeaseName|BinaryVersion|EmulationVersion|Age", func(l *coordinationv1beta1.LeaseCandidate) []any {
		return []any{l.Name, l.Spec.LeaseName, l.Spec.BinaryVersion, l.Spec.EmulationVersion, age(l.CreationTimestamp)}
	})
	addColumns(p, "Name|AddressType|Ports|Endpoints|Age", func(s *discoveryv1.EndpointSlice) []any {
		ports, addresses := []string{}, []string{}
		for _, p := range s.Ports {
			switch {
			case p.Port != nil:
				ports = append(ports, decimal(*p.Port))
			default:
				ports = append(ports, apiobject.Deref(p.Name, "*"))
			}
		}
		for _, e := range s.Endpoints {
			addresses = append(addresses, e.Addresses...)
		}
		return []any{s.Name, s.AddressType, orUnset(joinFirst(ports, 3)), orUnset(joinFirst(addresses, 3)), age(s.CreationTimestamp)}
	})
	addColumns(p, "Name|Class|Hosts|Address|Ports|Age", ingressCells)
	addColumns(p, "Name|Controller|Parameters|Age", func(c *networkingv1.IngressClass) []any {
		name, parameters := c.Name, "<none>"
		if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
			name += " (default)"
		}
		if p := c.Spec.Parameters; p != nil {
			parameters = p.Kind
			if p.APIGroup != nil {
				parameters += "." + *p.APIGroup
			}
			parameters += "/" + p.Name
		}
		return []any{name, c.Spec.Controller, parameters, age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|ParentRef", func(a *networkingv1.IPAddress) []any {
		parent := "<none>"
		if ref := a.Spec.ParentRef; ref != nil {
			parent = ref.Resource
			if ref.Group != "" {
				parent = ref.Resource + "." + ref.Group
			}
			if ref.Namespace != "" {
				parent += "/" + ref.Namespace
			}
			parent += "/" + ref.Name
		}
		return []any{a.Name, parent}
	})
	addColumns(p, "Name|CIDRs|Age", func(c *networkingv1.ServiceCIDR) []any {
		return []any{c.Name, strings.Join(c.Spec.CIDRs, ","), age(c.CreationTimestamp)}
	})
}
