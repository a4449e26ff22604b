package clientcmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ConfigOverrides takes precedence over the files. Usually it comes from flags.
type ConfigOverrides struct {
	AuthInfo clientcmdapi.AuthInfo
	// ClusterDefaults has values for fields that the file's cluster does not set.
	ClusterDefaults clientcmdapi.Cluster
	ClusterInfo     clientcmdapi.Cluster
	Context         clientcmdapi.Context
	CurrentContext  string
	// Timeout limits requests. It is a number of seconds, or a duration with a unit. Empty or 0
	// means no limit.
	Timeout string
}

// ParseTimeout parses a number of seconds, or a duration with a unit.
func ParseTimeout(duration string) (time.Duration, error) {
	if seconds, err := strconv.ParseInt(duration, 10, 64); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, nil
	}
	if timeout, err := time.ParseDuration(duration); err == nil {
		return timeout, nil
	}
	return 0, fmt.Errorf("Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)") //lint:ignore ST1005 the user reads it as it stands
}

// RemoveNamespacesPrefix strips the prefix ns/, namespace/ or namespaces/, in any case, from a
// name.
func RemoveNamespacesPrefix(value string) (string, error) {
	for _, prefix := range []string{"namespaces/", "namespace/", "ns/"} {
		if n := len(prefix); len(value) > n && strings.EqualFold(value[:n], prefix) {
			return value[n:], nil
		}
	}
	return value, nil
}
