package sharing

import "reflect"

// pathPolicy says what objects share of one part, with the policy Immutable. The JSON names on the
// path from the object identify the part. If the pathPolicy is nil, objects share only the strings
// of the part.
type pathPolicy struct {
	immutable bool // objects share the part, and everything in it
	members   []memberPolicy
	elements  *pathPolicy // of a list
	others    *pathPolicy // of every member that is not in members
}

// memberPolicy is the policy of one member. It is not an entry of a map, because such maps need
// three kilobytes of code that run when the program starts.
type memberPolicy struct {
	name   string
	policy *pathPolicy
}

var immutablePart = &pathPolicy{immutable: true}

// metadataPolicy shares the contents of managed fields. Objects do not share a map with the name
// fieldsV1 in any other place.
var metadataPolicy = &pathPolicy{members: []memberPolicy{
	{"managedFields", &pathPolicy{elements: &pathPolicy{members: []memberPolicy{{"fieldsV1", immutablePart}}}}},
}}

// objectPolicy is the policy of objects of all kinds except Pod.
var objectPolicy = &pathPolicy{members: []memberPolicy{{"metadata", metadataPolicy}}}

// podPolicy shares parts that servers refuse to change once a pod exists. It shares no scalars, and
// no arrays of containers and volumes, whose elements differ in each pod. It does not share
// requests and limits, because some programs sum them up in the map of the first container. It does
// not share tolerations, because their seconds may change.
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

// pathPolicyOf returns the policy of objects of a type, or nil if p is not Immutable.
func (p Policy) pathPolicyOf(t reflect.Type) *pathPolicy {
	if p != Immutable {
		return nil
	}
	if t.PkgPath() == "k8s.io/api/core/v1" && t.Name() == "Pod" {
		return podPolicy
	}
	return objectPolicy
}

// pathPolicyOfContent returns the policy of an unstructured object, or nil if p is not Immutable.
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

// member returns the policy of a member of the part.
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

// element returns the policy of the elements, if the part is a list.
func (p *pathPolicy) element() *pathPolicy {
	if p == nil || p.immutable {
		return p
	}
	return p.elements
}
