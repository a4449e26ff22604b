package rest

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// serviceAccountDir is where the kubelet mounts the credentials of a pod.
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// ErrNotInCluster is wrapped by the error of InClusterConfig in a process that does not run in a
// pod.
var ErrNotInCluster = errors.New("not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")

// InClusterConfig returns the configuration of a process in a pod. The address is from the
// environment, and token and CA bundle are from the files of the pod's service account. If the
// environment has no address, the error is [ErrNotInCluster].
func InClusterConfig() (Config, error) {
	return inClusterConfig(os.Getenv, serviceAccountDir)
}

func inClusterConfig(getenv func(string) string, dir string) (Config, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return Config{}, ErrNotInCluster
	}
	token, ca := dir+"/token", dir+"/ca.crt"
	_, err := os.Stat(token)
	if err == nil {
		_, err = os.Stat(ca)
	}
	if err != nil {
		return Config{}, fmt.Errorf("the pod's service account is not mounted: %w", err)
	}
	return Config{
		Host:            "https://" + net.JoinHostPort(host, port),
		BearerTokenFile: token,
		TLS:             TLSConfig{CAFile: ca},
	}, nil
}
