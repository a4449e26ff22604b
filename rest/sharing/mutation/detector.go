package mutation

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// TB has the methods of testing.TB that a Detector needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Detector keeps objects with copies of them, and compares the objects with the copies. It is safe
// for concurrent use.
type Detector struct {
	mu      sync.Mutex // guards following
	records []record
	copies  copier
}

// record is one object.
type record struct {
	key    types.NamespacedName
	object reflect.Value
	before reflect.Value // the copy of object
}

// Field is a field of an object.
type Field struct {
	// Key is the object's namespace and name when it was recorded.
	Key types.NamespacedName

	// Path is the path of the field in Go's syntax, such as Spec.Containers[0].Image or
	// Labels["app"].
	Path string
}

// Mutation is one changed field.
type Mutation struct {
	Field

	// Before and After are the values, formatted, and cut off if they are long.
	Before, After string

	// Others are the same field in other objects, which share the changed part. So the field
	// changed in them as well.
	Others []Field
}

// String describes the change, and names the other objects that changed.
func (m Mutation) String() string {
	text := fmt.Sprintf("%s was changed after a read; copy an object before a change:\n  %s: %s became %s",
		m.Key, m.Path, m.Before, m.After)
	if len(m.Others) == 0 {
		return text
	}
	const named = 5
	text += "\n  This part is shared, and may have been changed through one of these objects:"
	for _, field := range m.Others[:min(named, len(m.Others))] {
		text += fmt.Sprintf("\n  %s %s", field.Key, field.Path)
	}
	if more := len(m.Others) - named; more > 0 {
		text += fmt.Sprintf("\n  and %d more", more)
	}
	return text
}

// New returns a Detector that reports changes to t, as errors, when the test ends. Cleanups run in
// reverse order: a cleanup that is registered after New runs before the Detector compares.
func New(t TB) *Detector {
	d := &Detector{copies: make(copier)}
	t.Cleanup(func() {
		t.Helper()
		for _, m := range d.Check() {
			t.Errorf("%s", m)
		}
	})
	return d
}

// Transform returns a function that records each object, and returns the object itself. It is for
// sources.Transform, or for any other hook that gets each object before its users.
func Transform[T any](d *Detector) func(T) (T, error) {
	return func(object T) (T, error) {
		d.Record(object)
		return object, nil
	}
}

// Record copies an object, and Check later compares it. No other goroutine may use the object
// during the call. If object is not a pointer, Record copies only the parts that it points to.
func (d *Detector) Record(object any) {
	v := reflect.ValueOf(object)
	if !v.IsValid() {
		return
	}
	r := record{object: v}
	if named, ok := object.(interface {
		GetNamespace() string
		GetName() string
	}); ok && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		r.key = types.NamespacedName{Namespace: strings.Clone(named.GetNamespace()), Name: strings.Clone(named.GetName())}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.before = d.copies.deepCopy(v)
	d.records = append(d.records, r)
}

// Check returns the fields that have changed since their object was recorded, or since an earlier
// Check returned them. The fields are in the order in which their objects were recorded. Nobody may
// use the objects during the call: even formatting a resource.Quantity writes to it.
func (d *Detector) Check() []Mutation {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []Mutation
	indices := map[location]int{} // indices in found
	for _, r := range d.records {
		c := comparison{}
		c.compare("", location{}, r.before, r.object)
		for _, diff := range c.differences {
			field := Field{r.key, strings.TrimPrefix(diff.path, ".")}
			if i, ok := indices[diff.at]; ok && diff.at.address != nil {
				found[i].Others = append(found[i].Others, field)
				continue
			}
			indices[diff.at] = len(found)
			found = append(found, Mutation{Field: field, Before: diff.before, After: diff.after})
		}
	}
	if len(found) > 0 {
		d.copies = make(copier)
		for i := range d.records {
			d.records[i].before = d.copies.deepCopy(d.records[i].object)
		}
	}
	return found
}
