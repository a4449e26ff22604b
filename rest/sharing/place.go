package sharing

import "reflect"

// place is a part of an object, identified by the JSON names that lead to it. It says what the
// policy Immutable lets objects share. A nil place means that nothing in the part is shared, apart
// from strings.
type place struct {
	fixed    bool // objects share the part, and everything in it
	members  []named
	elements *place // of a list
	others   *place // the place of every member that is not in members
}

// named is a member of a place. A map of members instead would take three kilobytes of code that
// run when the program starts.
type named struct {
	name  string
	place *place
}

var fixed = &place{fixed: true}

// metadata has the contents of managed fields. A map with the name fieldsV1 elsewhere in an object
// is not shared.
var metadata = &place{members: []named{
	{"managedFields", &place{elements: &place{members: []named{{"fieldsV1", fixed}}}}},
}}

// anObject is the place of an object of any kind except Pod.
var anObject = &place{members: []named{{"metadata", metadata}}}

// aPod has the parts that servers refuse to change once a pod exists. It lacks scalars, and the
// arrays of containers and volumes, whose elements differ in each pod. It lacks requests and
// limits, because some programs sum them up in the map of the first container. It lacks
// tolerations, whose seconds may change.
var aPod = &place{members: []named{
	{"metadata", metadata},
	{"spec", &place{members: []named{
		{"affinity", fixed},
		{"securityContext", fixed},
		{"imagePullSecrets", fixed},
		{"hostAliases", fixed},
		{"dnsConfig", fixed},
		{"readinessGates", fixed},
		{"topologySpreadConstraints", fixed},
		{"containers", &place{elements: aContainer}},
		{"initContainers", &place{elements: aContainer}},
		{"ephemeralContainers", &place{elements: aContainer}},
		{"volumes", &place{elements: &place{others: fixed}}},
	}}},
	{"status", &place{members: []named{
		{"containerStatuses", &place{elements: aContainerStatus}},
		{"initContainerStatuses", &place{elements: aContainerStatus}},
		{"ephemeralContainerStatuses", &place{elements: aContainerStatus}},
	}}},
}}

var aContainer = &place{members: []named{
	{"command", fixed}, {"args", fixed}, {"ports", fixed}, {"envFrom", fixed}, {"env", fixed},
	{"volumeMounts", fixed}, {"volumeDevices", fixed}, {"livenessProbe", fixed}, {"readinessProbe", fixed},
	{"startupProbe", fixed}, {"lifecycle", fixed}, {"securityContext", fixed},
}}

var aContainerStatus = &place{members: []named{
	{"resources", fixed}, {"allocatedResources", fixed}, {"allocatedResourcesStatus", fixed}, {"user", fixed},
}}

// placeOf returns the place of objects of a type.
func (p Policy) placeOf(t reflect.Type) *place {
	if p != Immutable {
		return nil
	}
	if t.PkgPath() == "k8s.io/api/core/v1" && t.Name() == "Pod" {
		return aPod
	}
	return anObject
}

// placeOfContent returns the place of an unstructured object.
func (p Policy) placeOfContent(content map[string]any) *place {
	if p != Immutable {
		return nil
	}
	if content["apiVersion"] == "v1" && content["kind"] == "Pod" {
		return aPod
	}
	return anObject
}

func (p *place) isFixed() bool { return p != nil && p.fixed }

// member returns the place of a member of p.
func (p *place) member(name []byte) *place {
	if p == nil || p.fixed {
		return p
	}
	for i := range p.members {
		if m := &p.members[i]; m.name == string(name) {
			return m.place
		}
	}
	return p.others
}

// element returns the place of the elements of the list p.
func (p *place) element() *place {
	if p == nil || p.fixed {
		return p
	}
	return p.elements
}
