package clientcmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ConfigOverrides is what goes before the files: what a user says in flags.
type ConfigOverrides struct {
	AuthInfo clientcmdapi.AuthInfo
	// ClusterDefaults count where the file's cluster says nothing.
	ClusterDefaults clientcmdapi.Cluster
	ClusterInfo     clientcmdapi.Cluster
	Context         clientcmdapi.Context
	CurrentContext  string
	// Timeout is of requests: a number of seconds, or a duration with its unit. Empty, and 0, mean none.
	Timeout string
}

// ParseTimeout reads a number of seconds, or a duration with its unit.
func ParseTimeout(duration string) (time.Duration, error) {
	if seconds, err := strconv.ParseInt(duration, 10, 64); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, nil
	}
	if timeout, err := time.ParseDuration(duration); err == nil {
		return timeout, nil
	}
	return 0, fmt.Errorf("Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)") //lint:ignore ST1005 the user reads it as it stands
}

// RemoveNamespacesPrefix strips ns/, namespace/ and namespaces/, in any case, from a name.
func RemoveNamespacesPrefix(value string) (string, error) {
	for _, prefix := range []string{"namespaces/", "namespace/", "ns/"} {
		if n := len(prefix); len(value) > n && strings.EqualFold(value[:n], prefix) {
			return value[n:], nil
		}
	}
	return value, nil
}
