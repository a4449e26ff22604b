package rest

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseWarningHeaders(t *testing.T) { // RS-25
	t.Parallel()
	for name, test := range map[string]struct {
		headers []string
		want    []string
	}{
		"one":                     {[]string{`299 - "a"`}, []string{"a"}},
		"with a date":             {[]string{`299 - "a" "Sat, 25 Aug 2012 23:34:45 GMT"`}, []string{"a"}},
		"with an agent":           {[]string{`299 apiserver:443 "a"`}, []string{"a"}},
		"two headers":             {[]string{`299 - "a"`, `299 - "b"`}, []string{"a", "b"}},
		"joined by a proxy":       {[]string{`299 - "a, b" , 110 - "stale" "Sat, 25 Aug 2012 23:34:45 GMT",299 - "c"`}, []string{"a, b", "c"}},
		"quotes and backslashes":  {[]string{`299 - "\"a\" \\ b"`}, []string{`"a" \ b`}},
		"control characters":      {[]string{"299 - \"a\x1b[31m\x7fb\""}, []string{"a[31mb"}},
		"empty text":              {[]string{`299 - ""`}, []string{""}},
		"text of another writing": {[]string{`299 - "grüße"`}, []string{"grüße"}},
		"other code":              {[]string{`199 - "a"`}, nil},
		"broken":                  {[]string{`299`, `299 -`, `299 - a`, `299 - "a`, `299 - "a\`, `299 - "a" "x`, "", `299 - "a" b`}, nil},
		"good before broken":      {[]string{`299 - "a", 299 - "b`, `299 - "c"`}, []string{"a", "c"}},
	} {
		require.Equal(t, test.want, slices.Collect(warnings(test.headers)), name)
	}
	for range warnings([]string{`299 - "a", 299 - "b"`, `299 - "c"`}) {
		break // a second yield after the break would panic
	}
}

func TestWarningsAreLoggedOnceAndAlwaysReported(t *testing.T) { // RS-25
	t.Parallel()
	var log bytes.Buffer
	var observed []string
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Warning", `299 - "v1beta1 is deprecated"`)
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", r.URL.Path))
	}), Options{
		Observer: &Observer{OnWarning: func(text string) { observed = append(observed, text) }},
		Logger:   slog.New(slog.NewTextHandler(&log, nil)),
	})
	for _, path := range []string{"/a", "/b", "/a"} {
		_, err := client.Raw(t.Context(), http.MethodGet, path, RawOptions{})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"v1beta1 is deprecated", "/a", "v1beta1 is deprecated", "/b", "v1beta1 is deprecated", "/a"}, observed)
	require.Equal(t, 3, strings.Count(log.String(), "\n"), &log)
	require.Equal(t, 1, strings.Count(log.String(), "deprecated"))
}

func TestLoggedWarningsAreBounded(t *testing.T) {
	t.Parallel()
	var w loggedWarnings
	for i := range 3 * maxLoggedWarnings {
		require.True(t, w.addIfNew(fmt.Sprint(i)))
		require.False(t, w.addIfNew(fmt.Sprint(i)))
		require.LessOrEqual(t, len(w.texts), maxLoggedWarnings)
	}
}

func FuzzWarnings(f *testing.F) {
	for _, seed := range []string{`299 - "a" "b", 299 - "c"`, `299 - "\"`, ` 299  ""  , "`, "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		for text := range warnings([]string{header}) {
			require.LessOrEqual(t, len(text), len(header))
			require.NotContains(t, text, "\n")
		}
	})
}
