// Command plain is a pod informer on package plain, the textbook pipeline: the same program as
// clientgo and kinform beside it. The program contains its own in-cluster configuration, which the
// other two libraries provide.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/plain"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client, err := inCluster("/api/v1/pods")
	if err != nil {
		return err
	}
	inf := plain.NewInformer(client, plain.Options[*corev1.Pod]{})
	_, err = inf.AddHandler(func(e plain.Event[*corev1.Pod]) {
		fmt.Println(e.Type, plain.KeyOf(e.New))
	})
	if err != nil {
		return err
	}
	return inf.Run(ctx)
}

// account is the directory of a pod with the token and CA certificate for its cluster.
const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

// inCluster returns a client with the credentials of its pod.
func inCluster(path string) (*plain.Client[*corev1.Pod], error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("this program does not run in a cluster")
	}
	authority, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, errors.New("ca.crt has no certificate")
	}
	transport := bearer{&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	return &plain.Client[*corev1.Pod]{
		HTTP: &http.Client{Transport: transport}, URL: "https://" + net.JoinHostPort(host, port) + path, UserAgent: "plain",
	}, nil
}

// bearer sends the pod's token, which a cluster renews every hour.
type bearer struct{ next http.RoundTripper }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := os.ReadFile(account + "token")
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return b.next.RoundTrip(r)
}
