package resourcelock

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// New returns a lock of this type, which must be LeasesResourceLock. The core client is not used: locks of other
// types, which needed it, are no more.
func New(lockType string, ns string, name string, coreClient corev1.CoreV1Interface, coordinationClient coordinationv1.CoordinationV1Interface, rlc ResourceLockConfig) (Interface, error) {
	return NewWithLabels(lockType, ns, name, coreClient, coordinationClient, rlc, nil)
}

// NewWithLabels returns a lock whose object has these labels when this candidate writes it.
func NewWithLabels(lockType string, ns string, name string, coreClient corev1.CoreV1Interface, coordinationClient coordinationv1.CoordinationV1Interface, rlc ResourceLockConfig, labels map[string]string) (Interface, error) {
	return newLock(lockType, ns, name, coordinationClient, rlc, labels)
}

// NewFromKubeconfig returns a lock with a client of its own. Its requests end after half of renewDeadline, and not
// before a second, so that one which hangs does not cost the lead. It panics if there is no client for the config.
func NewFromKubeconfig(lockType string, ns string, name string, rlc ResourceLockConfig, kubeconfig *rest.Config, renewDeadline time.Duration) (Interface, error) {
	config := *kubeconfig
	config.Timeout = max(time.Second, renewDeadline/2)
	client := coordinationv1.NewForConfigOrDie(rest.AddUserAgent(&config, "leader-election"))
	return newLock(lockType, ns, name, client, rlc, nil)
}

func newLock(lockType, ns, name string, client coordinationv1.LeasesGetter, rlc ResourceLockConfig, labels map[string]string) (Interface, error) {
	switch lockType {
	case LeasesResourceLock:
		return &LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: ns, Name: name},
			Client:     client,
			LockConfig: rlc,
			Labels:     labels,
		}, nil
	case "configmapsleases": // the text is client-go's, and differs by a letter
		return nil, fmt.Errorf("%s lock is removed, migrated to %s", lockType, LeasesResourceLock)
	case "endpoints", "configmaps", "endpointsleases":
		return nil, fmt.Errorf("%s lock is removed, migrate to %s", lockType, LeasesResourceLock)
	}
	//lint:ignore ST1005 programs compare the text
	return nil, fmt.Errorf("Invalid lock-type %s", lockType)
}
