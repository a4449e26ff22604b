package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestServerCannotControlTheTerminal: the server's texts in errors, warnings, names and contents
// all try to control the terminal. The commands run one after another, because each sets the log of
// the process.
func TestServerCannotControlTheTerminal(t *testing.T) {
	const hostile = "a\x1b]0;title\x07\x1b[2J\u009b31m\x7f\u202e\r\nkinform: all is well\u2066"
	text, err := json.Marshal(hostile)
	require.NoError(t, err)
	status, err := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status: "Failure", Reason: hostile, Message: hostile, Code: 403, Details: &metav1.StatusDetails{Name: hostile, Kind: hostile}})
	require.NoError(t, err)
	for name, pods := range map[string]http.HandlerFunc{
		"objects": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("watch") {
				fmt.Fprintf(w, `{"type":"ERROR","object":%s}`, status)
				return
			}
			fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[
				{"metadata":{"name":%s,"namespace":%s,"resourceVersion":%s},"status":{"phase":%s}}]}`, text, text, text, text)
		},
		"errors": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(403)
			_, _ = w.Write(status)
		},
		"nothing": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Warning", "299 - \"warned\u009b\u202e\"")
				switch r.URL.Path {
				case "/api":
					fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
				case "/apis":
					fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
				case "/api/v1":
					fmt.Fprintf(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[
						{"name":"pods","singularName":%s,"namespaced":true,"kind":"Pod","verbs":["list","watch"]},
						{"name":%s,"singularName":"odd","namespaced":true,"kind":"Odd","verbs":["list",%s]}]}`, text, text, text)
				default:
					pods(w, r)
				}
			}))
			defer server.Close()
			config := save(t, server.URL)
			for _, args := range [][]string{
				{"watch", "pods", "-A", "-o", "table"}, {"watch", "pods", "-A", "-o", "json"}, {"watch", "pods", "-A", "-o", "yaml"},
				{"watch", "odd"}, {"watch", hostile}, {hostile}, {"watch", "pods", "--" + hostile}, {"watch", "pods", "-o", hostile},
				{"top", "pods", "-A", "--once"}, {"top", hostile, "--once"}, {"top", "http://" + hostile}, {"top", server.URL, "--once"},
				{"apiserver", "--listen", hostile}, {"demo", "--output", hostile},
			} {
				switch {
				case args[0] == "watch":
					args = append(args, "--kubeconfig", config, "--for", "300ms")
				case args[0] == "top" && !strings.HasPrefix(args[1], "http"):
					args = append(args, "--kubeconfig", config)
				}
				var out, errOut bytes.Buffer
				run(t.Context(), args, &out, &errOut)
				require.NotEmpty(t, out.String()+errOut.String(), "%s %q", name, args)
				for _, r := range out.String() + errOut.String() {
					require.True(t, r == '\n' || unicode.IsPrint(r), "%s %q: %q", name, args, out.String()+errOut.String())
				}
				if len(args) < 4 || args[3] != "-o" || args[4] == "table" {
					require.NotContains(t, "\n"+out.String()+errOut.String(), "\nkinform: all is well", "%s %q: a text from the server must not begin a line", name, args)
				}
			}
		})
	}
}
