package guarantees

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
)

// IndexMismatch describes how an index of a snapshot differs from the values that fn returns for
// its objects (G7). It returns "" if they agree.
func IndexMismatch[T any](snapshot *indexer.Snapshot[T], name string, fn indexer.IndexFunc[T]) string {
	want := map[string]map[types.NamespacedName]bool{}
	for key, obj := range snapshot.All() {
		values, err := fn(obj)
		if err != nil {
			return fmt.Sprintf("G7: %v is stored, although it cannot be indexed: %v", key, err)
		}
		for _, value := range values {
			if want[value] == nil {
				want[value] = map[types.NamespacedName]bool{}
			}
			want[value][key] = true
		}
	}
	values, err := snapshot.IndexValues(name)
	if err != nil {
		return err.Error()
	}
	indexed := 0
	for value, count := range values {
		got := map[types.NamespacedName]bool{}
		found, err := snapshot.ByIndex(name, value)
		if err != nil {
			return err.Error()
		}
		for key := range found {
			got[key] = true
		}
		if !maps.Equal(got, want[value]) || count != len(got) {
			return fmt.Sprintf("G7: index %s has %v (%d) at %s, the objects say %v", name, got, count, value, want[value])
		}
		indexed++
	}
	if indexed != len(want) {
		return fmt.Sprintf("G7: index %s has %d values, the objects %d", name, indexed, len(want))
	}
	return ""
}
