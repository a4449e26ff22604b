package rest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
)

func TestEveryRequestHasImpersonationHeaders(t *testing.T) {
	t.Parallel()
	type asked struct {
		user, uid string
		groups    []string
		extra     map[string][]string
	}
	var got []asked
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{r.Header.Get("Impersonate-User"), r.Header.Get("Impersonate-Uid"), r.Header["Impersonate-Group"], map[string][]string{}}
		for name, values := range r.Header {
			// The server unescapes the rest of the header's name, in lower case, and uses it as the
			// key.
			if key, ok := strings.CutPrefix(strings.ToLower(name), "impersonate-extra-"); ok {
				key, err := url.PathUnescape(key)
				require.NoError(t, err)
				a.extra[key] = values
			}
		}
		got = append(got, a)
		w.Header().Set("Content-Type", mediaTypeJSON)
		_, _ = w.Write([]byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`))
	}), Options{})
	want := asked{"jane@example.com", "06f6", []string{"developers", "admins"}, map[string][]string{
		"scopes": {"view", "deployment"}, "example.org/a b+c%": {"1"},
	}}
	client, err := NewClient(Config{
		Host: server.base.String(), BearerToken: NewSecret("mine"),
		Impersonate: Impersonation{User: want.user, UID: want.uid, Groups: want.groups, Extra: want.extra},
	}, Options{})
	require.NoError(t, err)
	defer client.Close()
	for range 2 {
		stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
		require.NoError(t, err)
		require.NoError(t, stream.Close())
	}
	require.Equal(t, []asked{want, want}, got)
}

func TestImpersonationNeedsAUser(t *testing.T) {
	t.Parallel()
	for _, i := range []Impersonation{{UID: "1"}, {Groups: []string{"a"}}, {Extra: map[string][]string{"a": nil}}} {
		_, err := NewClient(Config{Host: "host", Impersonate: i}, Options{})
		require.ErrorContains(t, err, "rest.Config: impersonating a uid, groups or extra needs a user as well")
	}
}
