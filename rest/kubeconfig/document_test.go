package kubeconfig

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/execauth"
)

// seeds has valid and invalid documents.
var seeds = []string{
	"",
	"---\n",
	"null",
	"current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'https://x', certificate-authority-data: YQ==}}]\nusers: [{name: u, user: {token: t}}]",
	"current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'x:1', proxy-url: 'http://p'}}]\nusers: [{name: u, user: {exec: {command: aws}}}]",
	`{"kind":"Config","apiVersion":"v1","users":[{"name":"u","user":{"as-user-extra":{"a":["b"]}}}]}`,
	"users: &a [*a]",
	"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]",
	"users: [{name: u, user: {token: !!binary AA}}]",
	"clusters:\n- name: c\n  cluster:\n\tserver: x",
	"? [a]\n: b",
	".nan: .nan\nkind: .inf",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := parse(data)
		if err != nil {
			return
		}
		m := newMerged()
		m.add("/folder/config", doc)
		m.add("/folder/other", doc)
		for name := range m.contexts {
			if conn, err := m.connection(name, nil, execauth.Policy{}); err == nil {
				require.Equal(t, name, conn.Context)
				require.NotEmpty(t, conn.Namespace)
				require.Regexp(t, "^https?://.", conn.Config.Host)
			}
		}
	})
}

// FuzzDecodeKeepsSecrets puts a password at an arbitrary position of an arbitrary document. No
// error may quote the password.
func FuzzDecodeKeepsSecrets(f *testing.F) {
	const password = "c0rrect-h0rse"
	for _, s := range seeds {
		f.Add(s, "")
		f.Add("", s)
		f.Add(s[:len(s)/2], s[len(s)/2:])
	}
	for _, before := range []string{"users: *", "users: !!int ", "? {a: ", "users: {a: ", "%YAML ", "users: !", "users: \"\\x"} {
		f.Add(before, "")
		f.Add(before, "}: x")
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		_, err := decode([]byte(before + password + after))
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("the error quotes the document: %v", err)
		}
	})
}

func TestKeysAreCaseSensitive(t *testing.T) {
	t.Parallel()
	doc, err := parse([]byte("Current-Context: a\nCONTEXTS: 1"))
	require.NoError(t, err)
	require.Empty(t, doc.CurrentContext)
}

func TestPodNamespace(t *testing.T) {
	file := t.TempDir() + "/namespace"
	t.Setenv("POD_NAMESPACE", "")
	require.Equal(t, "default", podNamespace(file))
	require.NoError(t, os.WriteFile(file, []byte("kube-system\n"), 0o600))
	require.Equal(t, "kube-system", podNamespace(file))
	t.Setenv("POD_NAMESPACE", "own")
	require.Equal(t, "own", podNamespace(file))
}
