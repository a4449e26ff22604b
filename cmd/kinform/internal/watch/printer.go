package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kinform/kinform/cmd/kinform/internal/terminal"
	"github.com/kinform/kinform/informer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"
)

// printer writes one event of a watched resource.
type printer interface {
	print(informer.Event[*unstructured.Unstructured]) error
}

// newPrinter returns the printer for -o.
func newPrinter(format string, out io.Writer) (printer, error) {
	switch format {
	case "table":
		return &tablePrinter{out: out}, nil
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		return jsonPrinter{encoder}, nil
	case "yaml":
		return yamlPrinter{out}, nil
	default:
		return nil, fmt.Errorf("output format %q is unknown: use table, json or yaml", format)
	}
}

// eventOutput is an event as json and yaml show it.
type eventOutput struct {
	Type              string         `json:"type"`
	Cause             string         `json:"cause"`
	FinalStateUnknown bool           `json:"finalStateUnknown,omitempty"`
	Object            map[string]any `json:"object"`
}

func newEventOutput(e informer.Event[*unstructured.Unstructured]) eventOutput {
	return eventOutput{Type: e.Type.String(), Cause: e.Cause.String(), FinalStateUnknown: e.FinalStateUnknown, Object: e.New.Object}
}

// jsonPrinter writes one JSON object per line.
type jsonPrinter struct{ out *json.Encoder }

func (p jsonPrinter) print(e informer.Event[*unstructured.Unstructured]) error {
	return p.out.Encode(newEventOutput(e))
}

// yamlPrinter writes one YAML document per event.
type yamlPrinter struct{ out io.Writer }

func (p yamlPrinter) print(e informer.Event[*unstructured.Unstructured]) error {
	document, err := yaml.Marshal(newEventOutput(e))
	if err != nil || !terminal.Plain(string(document)) {
		// The YAML converter refuses some control characters. A Writer would escape other
		// characters, which changes the meaning of an unquoted word. So the document is written as
		// JSON, because JSON is valid YAML. In a JSON string, an escape still means the original
		// character.
		if document, err = json.MarshalIndent(newEventOutput(e), "", "  "); err != nil {
			return err
		}
		document = append(document, '\n')
	}
	_, err = fmt.Fprintf(p.out, "---\n%s", document)
	return err
}

// tablePrinter writes one line per event, in columns. A longer text widens its column from then on,
// because a printed line cannot wait for later lines.
type tablePrinter struct {
	out        io.Writer
	namespaced bool
	widths     []int
}

func (p *tablePrinter) print(e informer.Event[*unstructured.Unstructured]) error {
	if p.widths == nil {
		p.namespaced = e.Key.Namespace != ""
		p.widths = []int{7, 11, 24, 11, 5, 0}
		if err := p.row("EVENT", "NAMESPACE", "NAME", "STATUS", "AGE", "VERSION"); err != nil {
			return err
		}
	}
	age := "<unknown>"
	if created := e.New.GetCreationTimestamp(); !created.IsZero() {
		age = duration.HumanDuration(time.Since(created.Time))
	}
	return p.row(e.Type.String(), e.Key.Namespace, e.Key.Name, statusOf(e.New), age, e.ResourceVersion)
}

func (p *tablePrinter) row(cells ...string) error {
	var line strings.Builder
	for n, cell := range cells {
		if n == 1 && !p.namespaced {
			continue
		}
		cell = terminal.Text(cell) // first, because the width must count the escaped text
		p.widths[n] = max(p.widths[n], utf8.RuneCountInString(cell))
		if n == len(cells)-1 {
			line.WriteString(cell + "\n")
		} else {
			fmt.Fprintf(&line, "%-*s  ", p.widths[n], cell)
		}
	}
	_, err := io.WriteString(p.out, line.String())
	return err
}

// statusOf returns a word for the status of an object: Terminating, its phase, or its Ready or
// Available condition.
func statusOf(obj *unstructured.Unstructured) string {
	if obj.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	if phase, ok, _ := unstructured.NestedString(obj.Object, "status", "phase"); ok && phase != "" {
		return phase
	}
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		kind, _ := condition["type"].(string)
		if kind != "Ready" && kind != "Available" && kind != "Established" {
			continue
		}
		if condition["status"] == "True" {
			return kind
		}
		return "Not" + kind
	}
	return "-"
}
