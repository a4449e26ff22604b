package sharing

import "reflect"

// pathPolicy is a part of an object, identified by the JSON names that lead to it. It says what the
// policy Immutable lets objects share. A nil place means that nothing in the part is shared, apart
// from strings.
type pathPolicy struct {
	immutable bool // objects share the part, and everything in it
	members   []memberPolicy
	elements  *pathPolicy // of a list
	others    *pathPolicy // the place of every member that is not in members
}

// memberPolicy is a member of a place. A map of members instead would take three kilobytes of code
// that run when the program starts.
type memberPolicy struct {
	name   string
	policy *pathPolicy
}

var immutablePart = &pathPolicy{immutable: true}

// metadataPolicy has the contents of managed fields. A map with the name fieldsV1 elsewhere in an
// object is not shared.
var metadataPolicy = &pathPolicy{members: []memberPolicy{
	{"managedFields", &pathPolicy{elements: &pathPolicy{members: []memberPolicy{{"fieldsV1", immutablePart}}}}},
}}

// objectPolicy is the place of an object of any kind except Pod.
var objectPolicy = &pathPolicy{members: []memberPolicy{{"metadata", metadataPolicy}}}

// podPolicy has the parts that servers refuse to change once a pod exists. It lacks scalars, and
// the arrays of containers and volumes, whose elements differ in each pod. It lacks requests and
// limits, because some programs sum them up in the map of the first container. It lacks
// tolerations, whose seconds may change.
var podPolicy = &pathPolicy{members: []memberPolicy{
	{"metadata", metadataPolicy},
	{"spec", &pathPolicy{members: []memberPolicy{
		{"affinity", immutablePart},
		{"securityContext", immutablePart},
		{"imagePullSecrets", immutablePart},
		{"hostAliases", immutablePart},
		{"dnsConfig", immutablePart},
		{"readinessGates", immutablePart},
		{"topologySpreadConstraints", immutablePart},
		{"containers", &pathPolicy{elements: containerPolicy}},
		{"initContainers", &pathPolicy{elements: containerPolicy}},
		{"ephemeralContainers", &pathPolicy{elements: containerPolicy}},
		{"volumes", &pathPolicy{elements: &pathPolicy{others: immutablePart}}},
	}}},
	{"status", &pathPolicy{members: []memberPolicy{
		{"containerStatuses", &pathPolicy{elements: containerStatusPolicy}},
		{"initContainerStatuses", &pathPolicy{elements: containerStatusPolicy}},
		{"ephemeralContainerStatuses", &pathPolicy{elements: containerStatusPolicy}},
	}}},
}}

var containerPolicy = &pathPolicy{members: []memberPolicy{
	{"command", immutablePart}, {"args", immutablePart}, {"ports", immutablePart}, {"envFrom", immutablePart}, {"env", immutablePart},
	{"volumeMounts", immutablePart}, {"volumeDevices", immutablePart}, {"livenessProbe", immutablePart}, {"readinessProbe", immutablePart},
	{"startupProbe", immutablePart}, {"lifecycle", immutablePart}, {"securityContext", immutablePart},
}}

var containerStatusPolicy = &pathPolicy{members: []memberPolicy{
	{"resources", immutablePart}, {"allocatedResources", immutablePart}, {"allocatedResourcesStatus", immutablePart}, {"user", immutablePart},
}}

// pathPolicyOf returns the place of objects of a type.
func (p Policy) pathPolicyOf(t reflect.Type) *pathPolicy {
	if p != Immutable {
		return nil
	}
	if t.PkgPath() == "k8s.io/api/core/v1" && t.Name() == "Pod" {
		return podPolicy
	}
	return objectPolicy
}

// pathPolicyOfContent returns the place of an unstructured object.
func (p Policy) pathPolicyOfContent(content map[string]any) *pathPolicy {
	if p != Immutable {
		return nil
	}
	if content["apiVersion"] == "v1" && content["kind"] == "Pod" {
		return podPolicy
	}
	return objectPolicy
}

func (p *pathPolicy) isImmutable() bool { return p != nil && p.immutable }

// member returns the place of a member of p.
func (p *pathPolicy) member(name []byte) *pathPolicy {
	if p == nil || p.immutable {
		return p
	}
	for i := range p.members {
		if m := &p.members[i]; m.name == string(name) {
			return m.policy
		}
	}
	return p.others
}

// element returns the place of the elements of the list p.
func (p *pathPolicy) element() *pathPolicy {
	if p == nil || p.immutable {
		return p
	}
	return p.elements
}
