package contracts

import (
	"io"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// crashEnv is an environment variable. If it is set, this process must end by a panic, and its
// value is the place of the panic; see crash.
const crashEnv = "CONTRACTS_CRASH"

func TestMain(m *testing.M) {
	if place := os.Getenv(crashEnv); place != "" {
		crash(place)
	}
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	// One of the error handlers sleeps until some time after the last error. In a bubble of
	// synctest, this time is years away.
	utilruntime.ErrorHandlers = nil
	utilruntime.PanicHandlers = nil
	os.Exit(m.Run())
}

func pod(name, version string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version, UID: types.UID("u-" + name)}}
}

func gone(o *corev1.Pod) cache.DeletedFinalStateUnknown {
	return cache.DeletedFinalStateUnknown{Key: "ns/" + o.Name, Obj: o}
}

func d(kind cache.DeltaType, obj any) cache.Delta { return cache.Delta{Type: kind, Object: obj} }
