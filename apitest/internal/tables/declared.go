package tables

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/jsonpath"
)

// Column is a column that a CustomResourceDefinition declares.
type Column struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int32  `json:"priority"`
	JSONPath    string `json:"jsonPath"`
}

// declaredColumns returns the columns that the CRD of a custom resource declares. Without a
// declaration, there is one column, the age. A column with an unsupported path stays empty, as on
// the real server.
func declaredColumns(declared []Column) Columns {
	if len(declared) == 0 {
		declared = []Column{{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"}}
	}
	as := Columns{Headings: parseHeadings("Name")}
	paths := make([]jsonpath.Path, len(declared))
	for i, c := range declared {
		paths[i], _ = jsonpath.Parse(c.JSONPath)
		as.Headings = append(as.Headings, metav1.TableColumnDefinition{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority,
		})
	}
	as.Cells = func(obj apiobject.Object) []any {
		cells := []any{obj.GetName()}
		content := obj.(*unstructured.Unstructured).Object
		for i, c := range declared {
			var cell any
			if found := paths[i].Find(content); paths[i] != nil && len(found) > 0 {
				cell = customCell(c.Type, found[0])
			}
			cells = append(cells, cell)
		}
		return cells
	}
	return as
}

func apiServiceCells(obj apiobject.Object) []any {
	content := obj.(*unstructured.Unstructured).Object
	service, available := "Local", "Unknown"
	if name, _, _ := unstructured.NestedString(content, "spec", "service", "name"); name != "" {
		namespace, _, _ := unstructured.NestedString(content, "spec", "service", "namespace")
		service = namespace + "/" + name
	}
	conditions, _, _ := unstructured.NestedSlice(content, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Available" {
			available, _ = c["status"].(string)
			if reason, _ := c["reason"].(string); available != "True" {
				available += " (" + reason + ")"
			}
		}
	}
	return []any{obj.GetName(), service, available, age(obj.GetCreationTimestamp())}
}

// customCell converts a value to the type of a column. It returns nil if the value has another
// type.
func customCell(as string, v any) any {
	switch value := v.(type) {
	case nil:
	case string:
		switch as {
		case "string":
			return value
		case "date":
			at, err := time.Parse(time.RFC3339, value)
			if err != nil {
				return "<invalid>"
			}
			return duration.HumanDuration(time.Since(at))
		}
	case bool:
		if as == "boolean" {
			return value
		}
	case int64:
		switch as {
		case "integer":
			return value
		case "number":
			return float64(value)
		}
	case float64:
		switch as {
		case "integer":
			return int64(value)
		case "number":
			return value
		}
	}
	if as == "string" && v != nil {
		return jsonpath.Text(v)
	}
	return nil
}
