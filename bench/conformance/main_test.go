package conformance

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/kinform/kinform/bench/clientgo"
)

func TestMain(m *testing.M) {
	clientgo.Quiet()
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}
