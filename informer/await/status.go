package await

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StatusCondition holds if status.conditions of the object has a condition of this type with the
// status "True". Objects may be of any type that has such a list: pods ("Ready"), nodes ("Ready"),
// deployments ("Available"), jobs ("Complete"), custom resources with metav1.Condition, and
// unstructured ones.
//
// If a condition has an observedGeneration, the condition counts only for that generation of the
// object.
func StatusCondition[T any](conditionType string) Condition[T] {
	return StatusConditionIs[T](conditionType, metav1.ConditionTrue)
}

// StatusConditionIs is like StatusCondition, for any status, such as "False".
func StatusConditionIs[T any](conditionType string, status metav1.ConditionStatus) Condition[T] {
	return Condition[T]{
		name: fmt.Sprintf("status condition %s is %s", conditionType, status),
		holds: func(s State[T]) bool {
			c, ok := findCondition(s.Object, conditionType)
			return s.Exists && ok && c.status == string(status) && !c.outdated
		},
		describeState: func(s State[T]) string {
			c, ok := findCondition(s.Object, conditionType)
			switch {
			case !ok:
				return conditionType + " is missing"
			case c.outdated:
				return conditionType + " was set for an older generation"
			case c.reason == "":
				return conditionType + " is " + c.status
			default:
				return fmt.Sprintf("%s is %s (%s)", conditionType, c.status, c.reason)
			}
		},
	}
}

// GenerationObserved holds if the object's controller has seen its newest spec:
// status.observedGeneration is at least metadata.generation. An object whose type has no such field
// never satisfies the condition.
func GenerationObserved[T any]() Condition[T] {
	return Condition[T]{
		name: "the generation is observed",
		holds: func(s State[T]) bool {
			want, has := generation(s.Object)
			seen, ok := number(field(s.Object, "status", "observedGeneration"))
			return s.Exists && has && ok && seen >= want
		},
		describeState: func(s State[T]) string {
			want, _ := generation(s.Object)
			seen, _ := number(field(s.Object, "status", "observedGeneration"))
			return fmt.Sprintf("generation %d is observed, the object has %d", seen, want)
		},
	}
}

// PodReady holds if a pod is ready to serve: its condition Ready is True, and it is
// not being deleted.
func PodReady[T any]() Condition[T] {
	return And(StatusCondition[T]("Ready"), Not(Deleting[T]()))
}

// DeploymentAvailable holds if the deployment's controller has seen its newest spec and the
// deployment has its minimum of available replicas.
func DeploymentAvailable[T any]() Condition[T] {
	return And(GenerationObserved[T](), StatusCondition[T]("Available"))
}

// Deleting holds if the object has a deletionTimestamp.
func Deleting[T any]() Condition[T] {
	return New("the object is being deleted", func(s State[T]) bool {
		object, ok := any(s.Object).(metav1.Object)
		return s.Exists && ok && object.GetDeletionTimestamp() != nil
	})
}

// condition is an element of status.conditions.
type condition struct {
	status, reason string
	outdated       bool
}

func findCondition(object any, conditionType string) (found condition, ok bool) {
	conditions := field(object, "status", "conditions")
	if conditions.Kind() != reflect.Slice {
		return found, false
	}
	for i := range conditions.Len() {
		c := conditions.Index(i)
		if text(step(c, "type")) != conditionType {
			continue
		}
		found = condition{status: text(step(c, "status")), reason: text(step(c, "reason"))}
		observed, has := number(step(c, "observedGeneration"))
		now, known := generation(object)
		found.outdated = has && known && observed > 0 && observed < now
		return found, true
	}
	return found, false
}

func generation(object any) (int64, bool) {
	o, ok := object.(metav1.Object)
	if !ok || reflect.ValueOf(object).IsZero() {
		return 0, false
	}
	return o.GetGeneration(), true
}
