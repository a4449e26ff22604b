package resourcelock

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// New returns a lock of type lockType, which must be LeasesResourceLock. coreClient is ignored: the
// lock types that needed it no longer exist.
func New(lockType string, ns string, name string, coreClient corev1.CoreV1Interface, coordinationClient coordinationv1.CoordinationV1Interface, rlc ResourceLockConfig) (Interface, error) {
	return NewWithLabels(lockType, ns, name, coreClient, coordinationClient, rlc, nil)
}

// NewWithLabels is New with labels for the lock's object.
func NewWithLabels(lockType string, ns string, name string, coreClient corev1.CoreV1Interface, coordinationClient coordinationv1.CoordinationV1Interface, rlc ResourceLockConfig, labels map[string]string) (Interface, error) {
	return newLock(lockType, ns, name, coordinationClient, rlc, labels)
}

// NewFromKubeconfig returns a lock with its own client. The client's timeout is half of
// renewDeadline, and at least a second, so that a hanging request does not lose the lead. It panics
// if the config is invalid.
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
	case "configmapsleases": // differs in one letter from the name, as in client-go
		return nil, fmt.Errorf("%s lock is removed, migrated to %s", lockType, LeasesResourceLock)
	case "endpoints", "configmaps", "endpointsleases":
		return nil, fmt.Errorf("%s lock is removed, migrate to %s", lockType, LeasesResourceLock)
	}
	//lint:ignore ST1005 programs compare the text
	return nil, fmt.Errorf("Invalid lock-type %s", lockType)
}
