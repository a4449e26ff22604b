package clientgo

import (
	"flag"
	"io"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// Quiet prepares client-go for tests in which it fails on purpose: it logs nothing, and a handler's
// panic does not end the process. Quiet also removes client-go's default error handlers. They wait,
// on a clock that all bubbles of testing/synctest would share although their times differ.
func Quiet() {
	utilruntime.ErrorHandlers = nil
	utilruntime.ReallyCrash = false
	klog.SetOutput(io.Discard)
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
}
