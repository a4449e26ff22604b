package tables

import (
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// Columns are the columns of a resource in a Table. Each column has a heading, and each row has a
// cell for each column. kubectl shows columns of priority 0, and with -o wide all columns.
type Columns struct {
	Headings []metav1.TableColumnDefinition
	Cells    func(apiobject.Object) []any
}

// parseHeadings parses the headings of columns, separated by bars. A prefix marks a special column:
// "+" means that only -o wide shows it, "#" integers, and "?" booleans. All other columns are
// strings. The first column is the name of the object, unless a "!" marks another column.
func parseHeadings(list string) []metav1.TableColumnDefinition {
	var all []metav1.TableColumnDefinition
	hasNameColumn := strings.Contains(list, "!")
	for i, name := range strings.Split(list, "|") {
		heading := metav1.TableColumnDefinition{Type: "string"}
		if i == 0 && !hasNameColumn {
			heading.Format = "name"
		}
		for {
			prefix := name[0]
			switch prefix {
			case '+':
				heading.Priority = 1
			case '#':
				heading.Type = "integer"
			case '?':
				heading.Type = "boolean"
			case '!':
				heading.Format = "name"
			default:
				prefix = 0
			}
			if prefix == 0 {
				break
			}
			name = name[1:]
		}
		heading.Name = name
		all = append(all, heading)
	}
	return all
}

// Builtin returns the columns of a built-in type.
func Builtin(t reflect.Type) Columns {
	if c, ok := builtinColumns[t]; ok {
		return Columns{parseHeadings(c.headings), c.cells}
	}
	other := created()
	other.Headings[1].Type = "date"
	return other
}

// created returns two columns: the name and the time of creation.
func created() Columns {
	return Columns{parseHeadings("Name|Created At"), func(obj apiobject.Object) []any {
		return []any{obj.GetName(), obj.GetCreationTimestamp().UTC().Format(time.RFC3339)}
	}}
}

// Custom returns the columns of a kind without a Go type. The argument declared has the columns
// that a CRD declares for the kind.
func Custom(kind schema.GroupKind, declared []Column) Columns {
	switch kind {
	case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return created()
	case schema.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}:
		return Columns{parseHeadings("Name|Service|Available|Age"), apiServiceCells}
	}
	return declaredColumns(declared)
}
