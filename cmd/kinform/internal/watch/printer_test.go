package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"github.com/kinform/kinform/cmd/kinform/internal/terminal"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
)

func gadget(namespace, name string, status map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Gadget",
		"spec": map[string]any{"command": "a && b < c", "big": int64(1) << 60, "ratio": 0.5},
	}}
	if status != nil {
		u.Object["status"] = status
	}
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// The command has no Go type for a custom resource, so the output equals the server's object.
func TestCustomResourceInJSONAndYAML(t *testing.T) {
	t.Parallel()
	resource := apitest.Resource{Group: "example.com", Version: "v1", Plural: "gadgets", Kind: "Gadget"}
	s := apitest.Start(t, apitest.Options{Resources: []apitest.Resource{resource}})
	config := connect(t, s)
	inJSON := start(t, "gadgets.example.com", "-A", "-o", "json", "--kubeconfig", config)
	inYAML := start(t, "gadgets.example.com", "-A", "-o", "yaml", "--kubeconfig", config)
	inJSON.requireStderr("there are no gadgets.example.com yet")
	inYAML.requireStderr("there are no gadgets.example.com yet")

	object, err := s.Create(gadget("a", "g", nil))
	require.NoError(t, err)
	changed := object.(*unstructured.Unstructured).DeepCopy()
	changed.SetLabels(map[string]string{"color": "red"})
	_, err = s.Update(changed)
	require.NoError(t, err)
	require.NoError(t, s.Delete(resource.GroupVersionResource(), types.NamespacedName{Namespace: "a", Name: "g"}))

	inYAML.eventually(func() bool { return strings.Contains(inYAML.out.String(), "type: Deleted\n") })
	documents := strings.Split(inYAML.out.String(), "---\n")[1:]
	require.Len(t, documents, 3)
	for i, want := range []string{"Added", "Updated", "Deleted"} {
		line := inJSON.next()
		var event eventOutput
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		require.Equal(t, want, event.Type)
		require.Equal(t, "watch", event.Cause)
		require.False(t, event.FinalStateUnknown)
		require.Contains(t, line, `"spec":{"big":1152921504606846976,"command":"a && b < c","ratio":0.5}`)
		require.Equal(t, want != "Added", strings.Contains(line, `"labels":{"color":"red"}`))

		fromYAML, err := yaml.YAMLToJSON([]byte(documents[i]))
		require.NoError(t, err)
		require.JSONEq(t, line, string(fromYAML))
	}
}

func TestStatusIsOneWord(t *testing.T) {
	t.Parallel()
	condition := func(kind, status string) map[string]any {
		return map[string]any{"conditions": []any{
			"odd", map[string]any{"type": "Other", "status": "True"}, map[string]any{"type": kind, "status": status},
		}}
	}
	for want, status := range map[string]map[string]any{
		"-":              nil,
		"Running":        {"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		"Ready":          condition("Ready", "True"),
		"NotAvailable":   condition("Available", "False"),
		"NotEstablished": condition("Established", "Unknown"),
	} {
		require.Equal(t, want, statusOf(gadget("a", "g", status)))
	}
	require.Equal(t, "-", statusOf(gadget("a", "g", map[string]any{"phase": int64(1), "conditions": "odd"})))
	going := gadget("a", "g", map[string]any{"phase": "Running"})
	going.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-02T03:04:05Z"
	require.Equal(t, "Terminating", statusOf(going))
}

func TestObjectsCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	printer, err := newPrinter("table", &out)
	require.NoError(t, err)
	require.NoError(t, printer.print(informer.Event[*unstructured.Unstructured]{
		Type: informer.Added, Key: types.NamespacedName{Name: "g"},
		New: gadget("", "g", map[string]any{"phase": "\x1b[2Jfine\n\u202eö"}),
	}))
	require.Contains(t, out.String(), ` \u001b[2Jfine\u000a\u202eö `)
	require.Contains(t, out.String(), "<unknown>", "an object without a time of creation has no age")
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
}

// TestNameAndVersionCannotControlTheTerminal also checks that escapes do not change the meaning
// of json and yaml.
func TestNameAndVersionCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b[2J\u009b\x7f\u202e\n\u2066: b"
	event := informer.Event[*unstructured.Unstructured]{
		Type: informer.Added, Key: types.NamespacedName{Namespace: hostile, Name: hostile}, ResourceVersion: hostile,
		New: gadget(hostile, hostile, map[string]any{"phase": hostile}),
	}
	for _, format := range []string{"table", "json", "yaml"} {
		var out bytes.Buffer
		printer, err := newPrinter(format, terminal.NewWriter(&out))
		require.NoError(t, err)
		require.NoError(t, printer.print(event))
		for _, r := range out.String() {
			require.True(t, r == '\n' || unicode.IsPrint(r), "%s: %q", format, out.String())
		}
		if format == "table" {
			require.Equal(t, 2, strings.Count(out.String(), "\n"))
			continue
		}
		var got eventOutput
		require.NoError(t, yaml.Unmarshal(out.Bytes(), &got))
		for _, field := range []string{"metadata", "status"} {
			require.Equal(t, event.New.Object[field], got.Object[field])
		}
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

func TestWriteErrorEndsTheWatch(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	put(t, s, pod("home", "a"))
	for _, format := range []string{"table", "json", "yaml"} {
		cmd := Command()
		cmd.SetArgs([]string{"pods", "-o", format, "--kubeconfig", connect(t, s)})
		cmd.SetOut(closed{})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		require.EqualError(t, cmd.ExecuteContext(t.Context()), "cannot write: nobody reads")
	}
}
