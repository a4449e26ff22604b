package controlplane

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/apitest/fielddocs"
	"github.com/kinform/kinform/cmd/kinform/internal/apiserver"
)

// allowEverything allows every authenticated user to do everything. Unauthenticated clients may
// only check the server's health.
var allowEverything = []apitest.Rule{
	{Groups: []string{"system:authenticated"}, PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"},
	}},
	{Groups: []string{"system:authenticated"}, PolicyRule: rbacv1.PolicyRule{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
}

// kubeAPIServer serves the API from memory until ctx ends. As under envtest, there are no
// controllers: nothing runs pods, and nothing deletes objects whose owners are gone.
func kubeAPIServer(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	used := pflag.NewFlagSet("", pflag.ContinueOnError)
	address := used.IP("bind-address", net.IPv4(127, 0, 0, 1), "the address to listen on")
	port := used.Uint16("secure-port", 6443, "the port to listen on")
	certDir := used.String("cert-dir", "/var/run/kubernetes", "the folder of apiserver.crt and apiserver.key")
	certFile := used.String("tls-cert-file", "", "the certificate to serve, in place of the one in --cert-dir")
	keyFile := used.String("tls-private-key-file", "", "the key of --tls-cert-file")
	services := used.StringSlice("service-cluster-ip-range", []string{"10.0.0.0/24"}, "the address range of services; the service kubernetes has the first address")
	clientCA := used.String("client-ca-file", "", "the CA bundle for client certificates; a client with such a certificate may do everything")
	if printed, err := parseFlags("kube-apiserver", used, kubeAPIServerFlags, args, stdout, stderr); printed || err != nil {
		return err
	}
	config, err := tlsConfig(
		cmp.Or(*certFile, filepath.Join(*certDir, "apiserver.crt")),
		cmp.Or(*keyFile, filepath.Join(*certDir, "apiserver.key")), *clientCA)
	if err != nil {
		return err
	}
	server := apitest.New(apitest.Options{
		TLSConfig: config, Rules: allowEverything, CheckSchemas: true, ManagedFields: true, FieldDocs: fielddocs.Of,
	})
	defer server.Close()
	if err := apitest.Populate(server, apiserver.Namespaces(0)); err != nil {
		return err
	}
	if len(*services) == 0 {
		return errors.New("--service-cluster-ip-range is empty: give it an address range, such as 10.0.0.0/24, or leave it out")
	}
	own, err := service((*services)[0], *port)
	if err != nil {
		return err
	}
	if _, err := server.Create(own); err != nil {
		return err
	}
	listen := net.JoinHostPort(address.String(), strconv.Itoa(int(*port)))
	if err := server.Listen(listen); err != nil {
		return fmt.Errorf("cannot listen on %s: %w", listen, listenCause(err))
	}
	fmt.Fprintln(stderr, "kube-apiserver: kinform serves", server.URL())
	<-ctx.Done()
	return nil
}

// service is the service "kubernetes", through which pods reach the server. It exists in every
// cluster, so tests may expect it.
func service(addresses string, port uint16) (*corev1.Service, error) {
	prefix, err := netip.ParsePrefix(addresses)
	if err != nil {
		return nil, fmt.Errorf("--service-cluster-ip-range: %w", err)
	}
	first := prefix.Masked().Addr().Next().String()
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceDefault, Name: "kubernetes",
			Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"},
		},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: first, ClusterIPs: []string{first}, SessionAffinity: corev1.ServiceAffinityNone,
			Ports: []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(int32(port))}},
		},
	}, nil
}

// tlsConfig returns a configuration that serves a certificate and verifies client certificates.
func tlsConfig(certFile, keyFile, clientCA string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("the certificate to serve: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}}
	if clientCA == "" {
		return config, nil
	}
	text, err := os.ReadFile(clientCA)
	if err != nil {
		return nil, fmt.Errorf("--client-ca-file: %w", err)
	}
	config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, errors.New("--client-ca-file: " + clientCA + " has no certificates in PEM")
	}
	return config, nil
}
