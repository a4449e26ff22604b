package view

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// fakeLaboratory is a laboratory with one action.
type fakeLaboratory struct {
	done atomic.Pointer[map[string]string]
}

func (b *fakeLaboratory) Actions() []Action {
	return []Action{{ID: "create", Box: "server", Label: "Create", Inputs: []Input{
		{ID: "n", Label: "how many", Default: "1", Min: 1, Max: 100}, {ID: "kind", Default: "pod", Choices: []string{"pod", "node"}},
	}}}
}

func (b *fakeLaboratory) Do(_ context.Context, action string, values map[string]string) (string, error) {
	if values["n"] == "99" {
		return "", errors.New("too many pods")
	}
	b.done.Store(&values)
	return action + " is done", nil
}

func (b *fakeLaboratory) State() map[string]string { return map[string]string{"paused": "workers"} }

func TestActionsNeedTheToken(t *testing.T) {
	t.Parallel()
	lab := &fakeLaboratory{}
	r := start(t, Options{Laboratory: lab, Token: "a token of 20 characters"}, 1, nil)
	do := func(body string, change ...func(*http.Request)) (int, string) {
		code, text, _ := r.ask(t, http.MethodPost, "do", body, func(request *http.Request) {
			request.Header.Set("Authorization", "Bearer "+r.view.Token())
			request.Header.Set("Content-Type", "application/json")
			for _, c := range change {
				c(request)
			}
		})
		return code, strings.TrimSpace(text)
	}
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	const good = `{"action":"create","values":{"n":"5"}}`
	for name, tt := range map[string]struct {
		body   string
		change func(*http.Request)
		code   int
		text   string
	}{
		"no token":         {good, set("Authorization", ""), 401, "needs the token"},
		"a wrong token":    {good, set("Authorization", "Bearer a token of 20 characterS"), 401, "needs the token"},
		"another origin":   {good, set("Origin", "http://evil.example"), 403, "pages of other origins"},
		"behind a proxy":   {good, set("Origin", "https://tools.example"), 403, "the proxy must pass on the Host header unchanged"},
		"another name":     {good, func(r *http.Request) { r.Host = "evil.example" }, 403, "the host name"},
		"a body of a form": {good, set("Content-Type", "text/plain"), 415, "application/json"},
		"another method":   {good, func(r *http.Request) { r.Method = http.MethodGet }, 405, "POST"},
		"no JSON":          {`<x>`, nil, 400, "not an action"},
		"too long":         {`{"action":"` + strings.Repeat("x", maxActionBody) + `"}`, nil, 400, "too large"},
		"no such action":   {`{"action":"explode"}`, nil, 404, "no action"},
		"no such input":    {`{"action":"create","values":{"m":"5"}}`, nil, 400, `no input "m"`},
		"too much":         {`{"action":"create","values":{"n":"101"}}`, nil, 400, "from 1 to 100"},
		"no number":        {`{"action":"create","values":{"n":"1e1"}}`, nil, 400, "whole number"},
		"no choice":        {`{"action":"create","values":{"kind":"secret"}}`, nil, 400, "one of pod, node"},
		"it fails":         {`{"action":"create","values":{"n":"99"}}`, nil, 409, "too many pods"},
	} {
		change := tt.change
		if change == nil {
			change = func(*http.Request) {}
		}
		code, text := do(tt.body, change)
		require.Equal(t, tt.code, code, name)
		require.Contains(t, text, tt.text, name)
		require.Nil(t, lab.done.Load(), name)
	}
	code, text := do(good)
	require.Equal(t, 200, code)
	require.JSONEq(t, `{"done":"create is done"}`, text)
	require.Equal(t, map[string]string{"n": "5", "kind": "pod"}, *lab.done.Load())

	next := r.stream(t, "")
	require.Len(t, next().Hello.Actions, 1)
	require.Equal(t, map[string]string{"paused": "workers"}, next().Frame.Laboratory)
	require.NotContains(t, r.view.Address("http://x/"), "token")
}

func TestPrivateViewNeedsTheToken(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Private: true, IndexValues: true}, 1, nil)
	for _, path := range []string{"parts", "stream", "lookup"} {
		code, text, _ := r.ask(t, http.MethodGet, path, "", nil)
		require.Equal(t, 401, code)
		require.NotContains(t, text, "pods")
	}
	code, _, _ := r.ask(t, http.MethodGet, "", "", nil)
	require.Equal(t, 200, code, "the page itself must need no token")
	code, text, _ := r.ask(t, http.MethodGet, "parts", "", func(request *http.Request) {
		request.Header.Set("Authorization", "Bearer "+r.view.Token())
	})
	require.Equal(t, 200, code)
	var parts Pipelines
	require.NoError(t, json.Unmarshal([]byte(text), &parts))
	require.Len(t, parts.Pipelines, 2)
	require.Len(t, r.view.Token(), 26)
}

func TestIndexValuesAreOptional(t *testing.T) {
	t.Parallel()
	r := start(t, Options{}, 1, nil)
	code, text, _ := r.ask(t, http.MethodGet, "lookup?of=pods", "", nil)
	require.Equal(t, 403, code)
	require.Contains(t, text, "Options.IndexValues")
	r = start(t, Options{IndexValues: true}, 30, nil)
	require.NoError(t, r.informer.AddIndex("phase", func(*corev1.Pod) ([]string, error) { return []string{"<b>"}, nil }))
	code, text, _ = r.ask(t, http.MethodGet, "lookup?of=pods&index=phase&value=%3Cb%3E", "", nil)
	require.Equal(t, 200, code)
	var found Lookup
	require.NoError(t, json.Unmarshal([]byte(text), &found))
	require.Equal(t, []IndexValues{{Name: "phase", Values: 1, Top: []IndexValue{{Value: "<b>", Objects: 30}}}}, found.Indexes)
	require.Equal(t, 30, found.Result.Objects)
	require.Len(t, found.Result.Keys, 30)
	for path, want := range map[string]int{"lookup?of=pods&index=none&value=x": 404, "lookup?of=nobody": 404} {
		code, _, _ = r.ask(t, http.MethodGet, path, "", nil)
		require.Equal(t, want, code)
	}
}
