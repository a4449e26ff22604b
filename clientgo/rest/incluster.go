package rest

import (
	"errors"
	"net"
	"os"

	"k8s.io/klog/v2"

	certutil "k8s.io/client-go/util/cert"
)

// ErrNotInCluster means that the process does not run in a pod.
var ErrNotInCluster = errors.New("unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined")

// The files of a pod's service account.
const (
	serviceAccountToken = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // a path
	serviceAccountCA    = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
)

// InClusterConfig returns the configuration of a process in a pod. The address of the server comes
// from environment variables, and the token from the pod's service account. Outside of a pod,
// InClusterConfig returns ErrNotInCluster.
func InClusterConfig() (*Config, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, ErrNotInCluster
	}
	token, err := os.ReadFile(serviceAccountToken)
	if err != nil {
		return nil, err
	}
	config := &Config{Host: "https://" + net.JoinHostPort(host, port), BearerToken: string(token), BearerTokenFile: serviceAccountToken}
	if _, err := certutil.NewPool(serviceAccountCA); err != nil {
		klog.Background().Error(err, "Expected to load root CA config", "path", serviceAccountCA)
	} else {
		config.CAFile = serviceAccountCA
	}
	return config, nil
}
