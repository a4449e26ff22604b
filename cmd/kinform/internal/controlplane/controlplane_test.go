package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// certificates writes the files that envtest writes for kube-apiserver. It returns the
// kube-apiserver flags, and the configuration of a client in system:masters.
func certificates(t *testing.T) (args []string, admin rest.Config) {
	t.Helper()
	dir := t.TempDir()
	authority := apitest.New(apitest.Options{TLS: true})
	defer authority.Close()
	cert, key := authority.ClientCertificate()
	for name, content := range map[string][]byte{"apiserver.crt": cert, "apiserver.key": key, "ca.crt": authority.CA()} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	admin.TLS = rest.TLSConfig{Insecure: true, CertData: cert, KeyData: rest.NewSecret(string(key)), KeyPair: tls.X509KeyPair}
	return []string{"--cert-dir=" + dir, "--client-ca-file=" + filepath.Join(dir, "ca.crt"), "--secure-port=0"}, admin
}

// start runs a program in this process, and returns the line with its address.
func start(t *testing.T, p Program, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, errOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := p(ctx, args, io.Discard, errOut)
		errOut.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "kinform serves "); ok {
			return url
		}
	}
	require.NoError(t, lines.Err())
	return ""
}

// open returns a client of the server at a URL.
func open(t *testing.T, url string, config rest.Config) *rest.Client {
	t.Helper()
	config.Host = url
	client, err := rest.NewClient(config, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// namespaces returns the names of all namespaces.
func namespaces(t *testing.T, client *rest.Client) (all []string, err error) {
	t.Helper()
	list, err := rest.Must(rest.For[*corev1.Namespace](client, rest.ResourceOptions{})).List(t.Context(), listwatch.ListOptions{})
	if err != nil {
		return nil, err
	}
	defer list.Close()
	for {
		item, err := list.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		require.NoError(t, err)
		all = append(all, item.Key.Name)
	}
}

func TestAuthenticatedClientsMayDoEverything(t *testing.T) {
	t.Parallel()
	args, admin := certificates(t)
	url := start(t, kubeAPIServer, append(args, "--service-cluster-ip-range=10.9.0.0/16,fd00::/112")...)
	require.Contains(t, url, "https://127.0.0.1:")

	anonymous := rest.Config{TLS: rest.TLSConfig{Insecure: true}}
	stranger := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer stranger.CloseIdleConnections()
	for path, code := range map[string]int{
		"/healthz": http.StatusOK, "/readyz": http.StatusOK, "/livez": http.StatusOK, "/version": http.StatusOK,
		"/api": http.StatusForbidden, "/api/v1/namespaces": http.StatusForbidden,
	} {
		answer, err := stranger.Get(url + path)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, code, answer.StatusCode, path)
	}
	_, err := namespaces(t, open(t, url, anonymous))
	require.True(t, apierrors.IsForbidden(err), "%v", err)
	anonymous.BearerToken = rest.NewSecret("nobody's")
	_, err = namespaces(t, open(t, url, anonymous))
	require.True(t, apierrors.IsUnauthorized(err), "%v", err)

	client := open(t, url, admin)
	all, err := namespaces(t, client)
	require.NoError(t, err)
	require.Equal(t, []string{"default", "kube-node-lease", "kube-public", "kube-system"}, all)

	services := rest.Must(rest.For[*corev1.Service](client, rest.ResourceOptions{}))
	service, err := services.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "kubernetes"}, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "10.9.0.1", service.Spec.ClusterIP)

	// The server authenticates a service account by the token that it issued for the account.
	accounts := rest.Must(rest.For[*corev1.ServiceAccount](client, rest.ResourceOptions{}))
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot"}}
	_, err = accounts.Create(t.Context(), account, metav1.CreateOptions{})
	require.NoError(t, err)
	tokens, err := rest.NewSubresource[*authenticationv1.TokenRequest](accounts, "token")
	require.NoError(t, err)
	made, err := tokens.Create(t.Context(), types.NamespacedName{Namespace: "default", Name: "robot"}, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	robot := rest.Config{TLS: rest.TLSConfig{Insecure: true}, BearerToken: rest.NewSecret(made.Status.Token)}
	again, err := namespaces(t, open(t, url, robot))
	require.NoError(t, err)
	require.Equal(t, all, again)
}

func TestFlagsOfTheRealProgramsAreAccepted(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	run := func(name string, args ...string) (out, errOut string, err error) {
		var o, e bytes.Buffer
		err = programs[name](ended, args, &o, &e)
		return o.String(), e.String(), err
	}
	args, _ := certificates(t)
	_, said, err := run("kube-apiserver", append(args, "--etcd-servers=http://127.0.0.1:1", "--allow-privileged", "--v=4", "--authorization-mode=RBAC")...)
	require.NoError(t, err)
	require.Regexp(t, `^kube-apiserver: kinform ignores --allow-privileged --authorization-mode --etcd-servers --v\nkube-apiserver: kinform serves https://\S+\n$`, said)
	_, said, err = run("etcd", "--listen-client-urls=http://127.0.0.1:0,http://127.0.0.1:0", "--listen-peer-urls=http://127.0.0.1:1", "--data-dir", "/nowhere", "--unsafe-no-fsync=true")
	require.NoError(t, err)
	require.Equal(t, "etcd: kinform ignores --data-dir --listen-peer-urls --unsafe-no-fsync\n", said)

	for _, name := range []string{"kube-apiserver", "etcd"} {
		help, _, err := run(name, "--help")
		require.NoError(t, err)
		require.NotRegexp(t, `(?m)^\s*--insecure-port\b`, help)
		for _, flag := range map[string][]string{"kube-apiserver": {"secure-port", "service-cluster-ip-range"}, "etcd": {"listen-client-urls", "unsafe-no-fsync"}}[name] {
			require.Regexp(t, `(?m)^\s*--`+flag+`\b`, help)
		}
		version, _, err := run(name, "--version")
		require.NoError(t, err)
		require.Equal(t, name+" of kinform\n", version)
		_, _, err = run(name, "--insecure-port=0")
		require.EqualError(t, err, "unknown flag: --insecure-port: "+name+" --help lists the flags")
		_, _, err = run(name, "serve")
		require.EqualError(t, err, name+` takes no arguments, got ["serve"]`)
	}

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	_, _, err = run("kube-apiserver", append(args, "--secure-port="+port)...)
	require.ErrorContains(t, err, "cannot listen on 127.0.0.1:"+port+": bind: address already in use")
	_, _, err = run("kube-apiserver", "--cert-dir="+t.TempDir())
	require.ErrorContains(t, err, "the certificate to serve: open ")
	_, _, err = run("kube-apiserver", append(args, "--client-ca-file=nowhere")...)
	require.ErrorContains(t, err, "--client-ca-file: open nowhere")
	_, _, err = run("kube-apiserver", append(args, "--client-ca-file="+os.DevNull)...)
	require.ErrorContains(t, err, "has no certificates in PEM")
	_, _, err = run("kube-apiserver", append(args, "--service-cluster-ip-range=10.0.0.0")...)
	require.ErrorContains(t, err, "--service-cluster-ip-range: netip.ParsePrefix")
	_, _, err = run("kube-apiserver", append(args, "--service-cluster-ip-range=")...)
	require.EqualError(t, err, "--service-cluster-ip-range is empty: give it an address range, such as 10.0.0.0/24, or leave it out")
	_, _, err = run("etcd", "--listen-client-urls=")
	require.NoError(t, err)
	_, _, err = run("etcd", "--listen-client-urls=http://"+taken.Addr().String())
	require.ErrorContains(t, err, "bind: address already in use")
	_, _, err = run("etcd", "--listen-client-urls=https://127.0.0.1:0")
	require.ErrorContains(t, err, "kinform serves http://HOST:PORT")
	_, _, err = run("kubectl", "get", "pods")
	require.ErrorContains(t, err, "kinform has no kubectl: name a real one with TEST_ASSET_KUBECTL")
}

// Two control planes run at the same time. To each of them the test makes the requests that envtest
// makes, and stops it in the same way as envtest.
func TestControlPlanesAsProcesses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can send signals to another on Windows")
	}
	t.Parallel()
	dir, err := write(filepath.Join(t.TempDir(), "new", "assets"))
	require.NoError(t, err)
	require.True(t, filepath.IsAbs(dir))
	begin := func(name string, args ...string) (*exec.Cmd, *bufio.Scanner) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, name), args...)
		errOut, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		return cmd, bufio.NewScanner(errOut)
	}
	var all []*exec.Cmd
	for range 2 {
		etcd, lines := begin("etcd", "--listen-client-urls=http://127.0.0.1:0", "--data-dir="+dir)
		require.True(t, lines.Scan(), "etcd must print a line after it has read its flags")
		args, admin := certificates(t)
		server, lines := begin("kube-apiserver", args...)
		require.True(t, lines.Scan())
		_, url, ok := strings.Cut(lines.Text(), "kinform serves ")
		require.True(t, ok, lines.Text())
		pods := rest.Must(rest.For[*corev1.Pod](open(t, url, admin), rest.ResourceOptions{}))
		watch, err := pods.Watch(t.Context(), listwatch.WatchOptions{ResourceVersion: "1"})
		require.NoError(t, err, "an open watch must not keep the server from ending")
		defer watch.Close()
		all = append(all, server, etcd)
	}
	for _, cmd := range all {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait(), cmd.Path)
	}
}

func TestForeignProgramsAreNotOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	entries := func() (all []string) {
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range list {
			all = append(all, e.Name())
		}
		return all
	}
	foreign := filepath.Join(dir, "etcd")
	require.NoError(t, os.WriteFile(foreign, []byte("#!/bin/sh\n"), 0o755))
	_, err := write(dir)
	require.EqualError(t, err, foreign+" exists and is not from this command: remove it, or name another folder")
	require.Equal(t, []string{"etcd"}, entries())

	require.NoError(t, os.Remove(foreign))
	for range 2 { // The second run replaces the files of the first.
		_, err = write(dir)
		require.NoError(t, err)
		require.Equal(t, []string{"etcd", "kube-apiserver", "kubectl"}, entries())
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	_, err = write(filepath.Join(dir, "file", "below"))
	require.ErrorContains(t, err, "making the folder of the programs")
}
