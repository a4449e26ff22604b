package apitest

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// columns are the columns of a resource in a Table. Each column has a heading, and each row has a
// cell for each column. kubectl shows columns of priority 0, and with -o wide all columns.
type columns struct {
	headings []metav1.TableColumnDefinition
	cells    func(Object) []any
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

// columns returns the columns of the resource.
func (r *resource) columns() columns {
	if r.goType == nil {
		return customColumns(r)
	}
	if c, ok := builtinColumns[r.goType]; ok {
		return columns{parseHeadings(c.headings), c.cells}
	}
	created := parseHeadings("Name|Created At")
	created[1].Type = "date"
	return columns{created, func(obj Object) []any {
		return []any{obj.GetName(), obj.GetCreationTimestamp().UTC().Format(time.RFC3339)}
	}}
}

// The forms in which a row can include its object, besides the cells.
const (
	includeNone   = "None"
	includeObject = "Object"
)

// rows returns objects of a resource as a Table.
func (f format) rows(res *resource, meta metav1.ListMeta, revs ...*revision) metav1.Table {
	as := res.columns()
	table := metav1.Table{
		TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: metav1.SchemeGroupVersion.String()},
		ListMeta: meta,
		Rows:     make([]metav1.TableRow, 0, len(revs)),
	}
	if !f.noHeadings {
		table.ColumnDefinitions = as.headings
	}
	for _, rev := range revs {
		row := metav1.TableRow{Cells: as.cells(rev.object())}
		switch f.include {
		case includeNone:
		case includeObject:
			row.Object = runtime.RawExtension{Raw: format{}.appendObject(nil, rev)}
		default:
			row.Object = runtime.RawExtension{Raw: rev.metadataJSON()}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// tableOf returns one object as a Table.
func (f format) tableOf(rev *revision) metav1.Table {
	return f.rows(rev.res, metav1.ListMeta{ResourceVersion: rev.resourceVersion()}, rev)
}

// age returns how long ago t was, in the format of kubectl.
func age(t metav1.Time) string { return ageOf(t.Time) }

func ageOf(t time.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t))
}

// orNone shows empty text as <none>.
func orNone(s string) string { return or(s, "<none>") }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
