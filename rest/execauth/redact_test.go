package execauth

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest"
)

func TestErrorHasStderrWithoutSecrets(t *testing.T) {
	t.Parallel()
	const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
	for said, want := range map[string]string{
		"Unable to locate credentials.\n\nRun \"aws configure\".\n": `Unable to locate credentials.; Run "aws configure".`,
		"profile /home/someone/.aws/a-rather-long-path/config":      "profile /home/someone/.aws/a-rather-long-path/config",
		"token " + jwt + " expired":                                 "token [redacted] expired",
		"Authorization: Bearer abc":                                 "Authorization: Bearer [redacted]",
		`{"client_secret": "abc"}`:                                  `{"client_secret": "[redacted]"}`,
		"'password': 'abc' for me":                                  "'password': '[redacted]' for me",
		"bad 0123456789abcdef0123456789abcdef":                      "bad [redacted]",
		"env configured-value":                                      "env [redacted]",
		"arg my-secret-argument my-other-argument ok":               "arg [redacted] [redacted] ok",
		"key -----BEGIN PRIVATE KEY-----\nabc\n":                    "key [redacted]",
		"\x1b[2Jgone\x07 \xff\u202e":                                "[2Jgone",
		"":                                                          "",
	} {
		p := newPlugin(t, "fail", Options{
			Args: rest.Secrets(said, "--client-secret=my-secret-argument", "--token", "my-other-argument"), Env: rest.Secrets("SOMETHING=configured-value"),
		})
		_, err := p.Credential(t.Context(), nil)
		if want != "" {
			want = "; standard error: " + want
		}
		require.ErrorContains(t, err, `": exit status 3`)
		require.Equal(t, want, err.Error()[strings.Index(err.Error(), "status 3")+len("status 3"):])
	}
}

func TestRefusedTokenIsRedacted(t *testing.T) {
	t.Parallel()
	p := newPlugin(t, "leak", Options{Args: rest.Secrets(filepath.Join(t.TempDir(), "token"))})
	first, err := p.Credential(t.Context(), nil)
	require.NoError(t, err)
	_, err = p.Credential(t.Context(), first)
	require.ErrorContains(t, err, "standard error: refused: [redacted]")
}

func TestEnvironmentSecretIsRedacted(t *testing.T) {
	t.Setenv("MY_SECRET", "hush-hush")
	p := newPlugin(t, "fail", Options{Args: rest.Secrets("it is hush-hush")})
	_, err := p.Credential(t.Context(), nil)
	require.ErrorContains(t, err, "standard error: it is [redacted]")
}

func TestOnlyTheEndOfLongStderrIsKept(t *testing.T) {
	t.Parallel()
	p := newPlugin(t, "fail", Options{Args: rest.Secrets(strings.Repeat("blah ", 5000) + "the end")})
	_, err := p.Credential(t.Context(), nil)
	require.ErrorContains(t, err, "standard error: ... blah")
	require.ErrorContains(t, err, "the end")
	require.Less(t, len(err.Error()), maxStderr+500)

	var end tail
	_, _ = end.Write([]byte("se"))
	_, _ = end.Write([]byte("cret" + strings.Repeat("x", maxStderr-10) + " the end"))
	require.Equal(t, "... the end", end.String(), "a partial word must be dropped, because it may be the rest of a secret")

	end = tail{}
	_, _ = end.Write([]byte(`{"password":"secret","more":"` + strings.Repeat("x-", maxStderr/2-9) + `"}`))
	require.Equal(t, "...", end.String(), "a partial word without a space behind it must be dropped")
}

func TestInvalidOutputIsNotQuoted(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"": "the 0 bytes that the plugin printed are not JSON of kind ExecCredential",
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":471147114711471147}}`: "are not JSON of kind",
		"Logged in: hush": "are not JSON of kind",
		`{"kind":"Secret","apiVersion":"v1","status":{"token":"hush"}}`:                                                                            `the plugin printed kind "Secret"`,
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"hush"}}`:                                  "correct the configured apiVersion",
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}`:                                                                 "no status",
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}}`:                                                     "neither a token nor a client certificate",
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientKeyData":"hush"}}`:                               "one is missing",
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientCertificateData":"a","clientKeyData":"hush"}}`:   "client certificate: ",
		`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"hush","expirationTimestamp":"tomorrow hush"}}`: "are not JSON of kind",
	} {
		f := newFilePlugin(t)
		require.NoError(t, os.WriteFile(f.path, []byte(output), 0o600))
		_, err := f.Credential(t.Context(), nil)
		require.ErrorIs(t, err, ErrMalformed)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hush")
		// This number is so long that no path contains it by chance.
		require.NotContains(t, err.Error(), "471147114711471147")
	}
	p := newPlugin(t, "flood", Options{})
	_, err := p.Credential(t.Context(), nil)
	require.ErrorIs(t, err, ErrMalformed)
	require.ErrorContains(t, err, "more than 1048576 bytes")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"a","expirationTimestamp":"2030-01-01T00:00:00Z"}}`))
	f.Add([]byte(`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientCertificateData":"-----BEGIN","clientKeyData":"x"}}`))
	p, err := New("a", Options{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := p.parseCredential(data)
		require.Equal(t, err == nil, c != nil)
		require.True(t, err != nil || !c.Token.IsZero() || c.Certificate != nil)
		require.False(t, strings.ContainsFunc(p.redactStderr(string(data)), func(r rune) bool { return !unicode.IsPrint(r) }))
	})
}

// TestOptionsAndPluginAreNotPrinted prints Options, Plugin and their contents in many ways,
// including ways that call no methods.
func TestOptionsAndPluginAreNotPrinted(t *testing.T) {
	t.Parallel()
	const hush = "hush-hush-4711"
	opts := Options{
		Args: rest.Secrets("--password", hush), Env: rest.Secrets("TOKEN=" + hush),
		Cluster: &Cluster{ProxyURL: rest.NewSecret("http://me:" + hush + "@proxy"), Config: rest.NewSecret(`{"a":"` + hush + `"}`)},
	}
	f := newFilePlugin(t)
	f.says(`{"token":"` + hush + `"}`)
	f.token(nil)
	plugin := f.Plugin
	plugin.opts.Args = append(plugin.opts.Args, opts.Args...)
	plugin.opts.Env = append(plugin.opts.Env, opts.Env...)
	var logged strings.Builder
	for _, value := range []any{
		opts, &opts, *opts.Cluster, opts.Cluster, struct{ opts Options }{opts}, struct{ opts *Options }{&opts}, map[string]Options{"a": opts},
		plugin, struct{ plugin *Plugin }{plugin}, []any{plugin}, *plugin.current, plugin.current, struct{ c rest.Credential }{*plugin.current},
	} {
		for _, verb := range "vsdxXqobp" {
			for _, flag := range []string{"", "+", "#"} {
				fmt.Fprintf(&logged, "%"+flag+string(verb)+"\n", value)
			}
		}
		data, err := json.Marshal(value)
		fmt.Fprintln(&logged, string(data), err)
		for _, handler := range []slog.Handler{slog.NewTextHandler(&logged, nil), slog.NewJSONHandler(&logged, nil)} {
			slog.New(handler).Info("message", "value", value)
		}
		var failed recorded
		// assert.Equal prints values without calling their methods, and follows pointers.
		assert.Equal(&failed, value, reflect.Zero(reflect.TypeOf(value)).Interface())
		logged.WriteString(failed.text)
	}
	for _, form := range []string{"hush", fmt.Sprintf("%x", "hush"), fmt.Sprintf("%X", "hush"), strings.Trim(fmt.Sprint([]byte("hush")), "[]")} {
		require.NotContains(t, logged.String(), form)
	}
	require.Contains(t, logged.String(), "[redacted]")
}

// recorded records the output of a failing assertion.
type recorded struct{ text string }

func (r *recorded) Errorf(format string, args ...any) { r.text += fmt.Sprintf(format, args...) }

// TestTruncatedKeyIsRedacted: if the beginning of a key was cut off, the error does not have the
// rest of the key either.
func TestTruncatedKeyIsRedacted(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("hushKey/", 8) + "\n"
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(line, 60) + "hush-rest\n-----END PRIVATE KEY-----\nbad key\n"
	p := newPlugin(t, "fail", Options{Args: rest.Secrets(key)})
	_, err := p.Credential(t.Context(), nil)
	require.ErrorContains(t, err, "[redacted]")
	require.ErrorContains(t, err, "bad key")
	require.NotContains(t, err.Error(), "hush")

	p = newPlugin(t, "fail", Options{Args: rest.Secrets("fine\n-----END\n" + key)})
	_, err = p.Credential(t.Context(), nil)
	require.NotContains(t, err.Error(), "hush")
}
