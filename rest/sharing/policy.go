package sharing

import (
	"reflect"
	"slices"
)

// Policy says what objects may share with each other.
type Policy uint8

const (
	// Everything is every equal part: for programs of which it is known that they keep the contract.
	Everything Policy = iota

	// Immutable is Constants, and the parts of a pod that no server lets anybody change once the pod exists, so
	// that no program has a purpose in changing them in place. The table immutable has them. It
	// is for programs that may break the rule for cached objects. Decoder.Check finds those
	// that change even these parts.
	Immutable

	// Constants is only what no program can change in place: strings, and the contents of
	// managed fields. Other lists, maps and pointers are the object's own.
	Constants
)

// scope is where in an object a type is, which counts for the policy Immutable.
type scope uint8

const (
	anywhere scope = iota
	inPod          // the fields of immutable are fixed
	inFixed        // in a fixed field: all is fixed
)

// immutable are the fixed fields of pods, by the type that has them.
//
// Not among them, for all that servers refuse changes: scalars, and the arrays of containers and volumes, whose elements differ in
// each pod; requests and limits, because programs that sum them up have been seen to do it in the map of the first container; and
// tolerations, which may get other seconds.
var immutable = [...]struct {
	owner  string
	fields []string // nil for all
}{
	{"PodSpec", []string{"Affinity", "SecurityContext", "ImagePullSecrets", "HostAliases", "DNSConfig", "ReadinessGates", "TopologySpreadConstraints"}},
	{"Container", containerFields[:]},
	{"EphemeralContainerCommon", containerFields[:]},
	{"VolumeSource", nil},
	{"ContainerStatus", []string{"Resources", "AllocatedResources", "AllocatedResourcesStatus", "User"}},
}

var containerFields = [...]string{
	"Command", "Args", "Ports", "EnvFrom", "Env", "VolumeMounts", "VolumeDevices",
	"LivenessProbe", "ReadinessProbe", "StartupProbe", "Lifecycle", "SecurityContext",
}

const corev1 = "k8s.io/api/core/v1"

// scopeOf returns the scope of what is in a field of a struct, and whether the field is fixed.
func (p Policy) scopeOf(t reflect.Type, field string, outer scope) (inner scope, fixed bool) {
	switch {
	case p != Immutable:
		return anywhere, false
	case outer == inFixed:
		return inFixed, true
	case t.PkgPath() != corev1:
		return outer, false
	case outer == anywhere:
		if t.Name() == "Pod" && field != "ObjectMeta" {
			return inPod, false
		}
		return anywhere, false
	}
	for _, of := range immutable {
		if of.owner == t.Name() && (of.fields == nil || slices.Contains(of.fields, field)) {
			return inFixed, true
		}
	}
	return inPod, false
}
