package differential

import (
	"flag"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	// client-go's connections break on purpose. What handles its errors otherwise
	// also waits, by a clock that is shared by bubbles whose times differ.
	utilruntime.ErrorHandlers = nil
	klog.SetOutput(io.Discard)
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	if code := m.Run(); code != 0 {
		os.Exit(code)
	}
	if err := goleak.Find(goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1")); err != nil {
		panic(err)
	}
}
