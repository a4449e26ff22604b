package certificate_test

import (
	"context"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// handled counts the calls of an error handler of the tests. It replaces apimachinery's handlers,
// which wait by the real clock.
var handled atomic.Int64

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(context.Context, error, string, ...any) { handled.Add(1) }}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}
