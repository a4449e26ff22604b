package kubeconfig_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/kubeconfig"
)

func TestErrorsNameFileAndReasonAndNoSecret(t *testing.T) {
	t.Parallel()
	const https = `server: "https://x.example"`
	tests := []struct {
		name, content string
		want          []string
	}{
		{"indentation", "clusters:\n- name: a\n cluster: " + secret, []string{"not valid YAML near line 2"}},
		{"unknown anchor", "users: [{name: u, user: {password: *" + secret + "}}]", []string{"not valid YAML"}},
		{"tagged scalar", "users: [{name: u, user: {password: !!float " + secret + "}}]", []string{"not valid YAML"}},
		{"map as a key", "users: [{name: u, user: {? {token: " + secret + "} : x}}]", []string{"not valid YAML"}},
		{"not a mapping", secret, []string{"the document is of type string instead of mapping"}},
		{"user is a string", "users: [{name: u, user: " + secret + "}]", []string{"users.user is of type string instead of mapping"}},
		{"users is a mapping", "users: {u: {token: " + secret + "}}", []string{"users is of type object instead of list"}},
		{"token is a number", "users: [{name: u, user: {token: 471147114711471147}}]", []string{"users.user.token is of type number instead of string: put it in quotes"}},
		{"bool in quotes", `clusters: [{name: c, cluster: {insecure-skip-tls-verify: "yes"}}]`, []string{"clusters.cluster.insecure-skip-tls-verify", "bool"}},
		{"another kind", "apiVersion: v1\nkind: Secret\ndata: {x: " + secret + "}", []string{`kind "Secret"`}},
		{"another version", "apiVersion: v2\nkind: Config", []string{`apiVersion "v2"`}},
		{"duplicate", "users: [{name: u}, {name: u, user: {token: " + secret + "}}]", []string{`two users are named "u"`}},
		{"unknown context", "current-context: prod\ncontexts: [{name: a}, {name: b}]", []string{`no context "prod"`, `"a", "b"`}},
		{"unknown cluster", "current-context: x\ncontexts: [{name: x, context: {cluster: gone}}]", []string{`context "x"`, `no cluster "gone"`}},
		{"unknown user", "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: gone}}]\nclusters: [{name: c}]", []string{`no user "gone"`}},
		{"no server", kubeconfigOf("", ""), []string{`cluster "c"`, "no server"}},
		{"bad server", kubeconfigOf(`server: "https://u:`+secret+`@ho st"`, ""), []string{`cluster "c"`, "not an http or https URL"}},
		{"server with a password", kubeconfigOf(`server: "https://u:`+secret+`@x.example"`, ""), []string{"without a user"}},
		{"server of another scheme", kubeconfigOf(`server: "ftp://x.example"`, ""), []string{"not an http or https URL"}},
		{"bad proxy", kubeconfigOf(https+`, proxy-url: "http://u:`+secret+`/@p:1"`, ""), []string{`cluster "c"`, "proxy-url"}},
		{"proxy of another scheme", kubeconfigOf(https+`, proxy-url: "ftp://p:1"`, ""), []string{"proxy-url"}},
		{"CA is not base64", kubeconfigOf(https+", certificate-authority-data: "+secret, ""), []string{`cluster "c"`, "certificate-authority-data is not base64"}},
		{"certificate is not base64", kubeconfigOf(https, "client-certificate-data: "+secret), []string{`user "u"`, "client-certificate-data is not base64"}},
		{"key is not base64", kubeconfigOf(https, "client-key-data: "+secret), []string{`user "u"`, "client-key-data is not base64"}},
		{"CA twice", kubeconfigOf(https+", certificate-authority: f, certificate-authority-data: YQ==", ""), []string{"both certificate-authority and certificate-authority-data"}},
		{"CA and insecure", kubeconfigOf(https+", insecure-skip-tls-verify: true, certificate-authority-data: YQ==", ""), []string{"contradicts"}},
		{"CA is missing", kubeconfigOf(https+", certificate-authority: gone.crt", ""), []string{"certificate-authority", "gone.crt"}},
		{"token file is missing", kubeconfigOf(https, "tokenFile: gone"), []string{`user "u"`, "tokenFile", "gone"}},
		{"key without certificate", kubeconfigOf(https, "client-key-data: YQ=="), []string{`user "u"`, "add the missing one"}},
		{"certificate without key", kubeconfigOf(https, "client-certificate-data: YQ=="), []string{"add the missing one"}},
		{"token and password", kubeconfigOf(https, "token: "+secret+", password: "+secret), []string{`user "u"`, "token and a username"}},
		{"auth provider", kubeconfigOf(https, "auth-provider: {name: gcp, config: {access-token: "+secret+"}}"), []string{`auth provider ("gcp")`, "not supported"}},
		{"UID of nobody", kubeconfigOf(https, "as-uid: "+secret), []string{`user "u"`, "is set without as: add as"}},
		{"groups of nobody", kubeconfigOf(https, "as-groups: ["+secret+"]"), []string{"is set without as"}},
		{"extra of nobody", kubeconfigOf(https, "as-user-extra: {a: ["+secret+"]}"), []string{"is set without as"}},
		{"plugin without a command", kubeconfigOf(https, "exec: {args: ["+secret+"]}"), []string{`user "u"`, "no command"}},
		{"plugin without a version", kubeconfigOf(https, "exec: {command: aws, args: ["+secret+"]}"), []string{`plugin ("aws") has no apiVersion`}},
		{"plugin of an old version", kubeconfigOf(https, "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1alpha1, args: ["+secret+"]}"), []string{`plugin ("aws")`, `"client.authentication.k8s.io/v1alpha1" is unknown`}},
		{"plugin without a mode", kubeconfigOf(https, "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1}"), []string{`plugin ("aws") has no interactiveMode`}},
		{"plugin of an unknown mode", kubeconfigOf(https, "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: maybe}"), []string{`"maybe" is unknown`}},
		{"plugin with a nameless variable", kubeconfigOf(https, "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1beta1, env: [{value: "+secret+"}]}"), []string{"variable without a name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, t.TempDir(), "config", tt.content)
			conn, err := kubeconfig.Load(kubeconfig.Options{Path: path})
			require.Error(t, err)
			require.Zero(t, conn.Config.Host)
			require.ErrorContains(t, err, path)
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, err.Error(), "471147114711471147")
			require.Contains(t, err.Error(), ": ", "the error must say what to do")
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestMissingExplicitFileIsAnError(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gone")
	_, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, 1, strings.Count(err.Error(), path), "the error must have the path exactly once: %v", err)
}

func TestAllBadFilesAreReportedAtOnce(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "a", "users: 1")
	b := write(t, dir, "b", "{")
	outsideCluster(t, dir, a+string(filepath.ListSeparator)+b)
	_, err := kubeconfig.Load(kubeconfig.Options{})
	require.ErrorContains(t, err, a)
	require.ErrorContains(t, err, b)
}

func TestErrorListsFewContexts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("current-context: nope\ncontexts:\n")
	for c := 'a'; c <= 'z'; c++ {
		b.WriteString("- name: context-" + string(c) + "\n")
	}
	_, err := kubeconfig.Load(kubeconfig.Options{Path: write(t, t.TempDir(), "config", b.String())})
	require.ErrorContains(t, err, `"context-a"`)
	require.ErrorContains(t, err, "and 14 more")
}
