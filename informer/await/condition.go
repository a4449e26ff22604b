package await

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kinform/kinform/listwatch"
)

// State is the state of one key in a store.
type State[T any] struct {
	Key             types.NamespacedName
	Object          T // the zero T if Exists is false
	ResourceVersion string
	UIDHash         uint64 // see listwatch.Item
	Exists          bool
}

// matches reports whether the object exists and its UID matches or is unknown.
func (s State[T]) matches(uid types.UID) bool {
	hash := s.UIDHash
	if object, ok := any(s.Object).(metav1.Object); ok && hash == 0 && s.Exists {
		hash = listwatch.HashUID(object.GetUID())
	}
	return s.Exists && !listwatch.OtherUID(hash, listwatch.HashUID(uid))
}

// Condition is a condition that [Until] waits for. The functions of this package make conditions.
// Any number of goroutines may use a Condition, any number of times.
type Condition[T any] struct {
	name  string
	holds func(State[T]) bool
	// describeState describes a state that does not satisfy the condition; it may be nil.
	describeState func(State[T]) string
}

// String returns the name of the condition.
func (c Condition[T]) String() string { return c.name }

func (c Condition[T]) describe(s State[T]) string {
	if c.describeState == nil {
		return ""
	}
	return c.describeState(s)
}

// New returns a custom condition. The name completes "wait until": it appears in errors. The
// function holds is called without a lock held, and must not change the object.
func New[T any](name string, holds func(State[T]) bool) Condition[T] {
	if holds == nil {
		panic("await: New needs a function")
	}
	return Condition[T]{name: name, holds: holds}
}

// Exists holds if the object exists.
func Exists[T any]() Condition[T] {
	return New("the object exists", func(s State[T]) bool { return s.Exists })
}

// Deleted holds if the object does not exist. With a uid, it also holds if an object with another
// UID has the name.
func Deleted[T any](uid types.UID) Condition[T] {
	name := "the object is deleted"
	if uid != "" {
		name += " (uid " + string(uid) + ")"
	}
	return New(name, func(s State[T]) bool { return !s.matches(uid) })
}

// Object holds for the object with this UID, and not for another object of the same name. Other
// conditions are about a name: a Deployment that was deleted and created again satisfies them too.
// To wait for one particular object, combine them:
//
//	await.And(
//		await.Object[*appsv1.Deployment](deployment.UID),
//		await.DeploymentAvailable[*appsv1.Deployment](),
//	)
func Object[T any](uid types.UID) Condition[T] {
	return Condition[T]{
		name:          "the object has uid " + string(uid),
		holds:         func(s State[T]) bool { return s.matches(uid) },
		describeState: func(State[T]) string { return "another object has the name" },
	}
}

// AtLeast holds if the store has this version of the object or a newer one. AtLeast waits for the
// caller's own write, and, unlike WaitRV, for nothing else. If the server has been restored from a
// backup, later writes are lost, and the condition holds when the object reaches this version
// again.
func AtLeast[T any](resourceVersion string) Condition[T] {
	return New("the object has version "+resourceVersion+" or newer", func(s State[T]) bool {
		order, err := resourceversion.CompareResourceVersion(s.ResourceVersion, resourceVersion)
		return s.Exists && (err == nil && order >= 0 || s.ResourceVersion == resourceVersion)
	})
}

// And returns a condition that holds if all the given conditions hold. Without conditions, it
// holds.
func And[T any](conditions ...Condition[T]) Condition[T] {
	return Condition[T]{
		name: list(conditions, " and "),
		holds: func(s State[T]) bool {
			for _, c := range conditions {
				if !c.holds(s) {
					return false
				}
			}
			return true
		},
		describeState: func(s State[T]) string { return describeFailing(conditions, s) },
	}
}

// Or returns a condition that holds if one of the given conditions holds. Without conditions, it
// does not hold.
func Or[T any](conditions ...Condition[T]) Condition[T] {
	return Condition[T]{
		name: list(conditions, " or "),
		holds: func(s State[T]) bool {
			for _, c := range conditions {
				if c.holds(s) {
					return true
				}
			}
			return false
		},
		describeState: func(s State[T]) string { return describeFailing(conditions, s) },
	}
}

// Not returns a condition that holds if c does not hold. If c needs an object, Not(c) also holds
// for an object that does not exist; to exclude this, combine it with Exists.
func Not[T any](c Condition[T]) Condition[T] {
	return New("not ("+c.name+")", func(s State[T]) bool { return !c.holds(s) })
}

// list returns the name of several conditions. It puts the names of combined conditions in
// brackets.
func list[T any](conditions []Condition[T], by string) string {
	names := make([]string, 0, len(conditions))
	for _, c := range conditions {
		name := c.name
		if strings.Contains(name, " and ") || strings.Contains(name, " or ") {
			name = "(" + name + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, by)
}

// describeFailing describes the state for each condition that it does not satisfy.
func describeFailing[T any](conditions []Condition[T], s State[T]) string {
	var seen []string
	for _, c := range conditions {
		if c.holds(s) {
			continue
		}
		if text := c.describe(s); text != "" {
			seen = append(seen, text)
		}
	}
	return strings.Join(seen, ", ")
}
