package metrics

import (
	"errors"
	"testing"

	"go.uber.org/goleak"
)

var errBroken = errors.New("broken")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}
