package informer_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// G10: user code that ends the goroutine of the reflector, as FailNow does in a test, ends Run with
// an error that says so. Nothing blocks, and no goroutine remains.
func TestGoexitInUserCodeEndsRun(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		for name, at := range map[string]string{
			"Transform, in the list": "pod-0", "Transform, in the watch": "pod-1", "OnEvent": "", "OnPhase": "",
		} {
			t.Run(mode.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server, source := newServer(t, rest.ResourceOptions{})
					_, err := server.Create(newPod(key(0)))
					require.NoError(t, err)
					source = sources.Transform(source, func(pod *corev1.Pod) (*corev1.Pod, error) {
						if pod.Name == at {
							runtime.Goexit()
						}
						return pod, nil
					})
					opts := informer.Options[*corev1.Pod]{}
					opts.Reflector.ListMode = mode
					opts.Reflector.Observer = &reflector.Observer{
						OnEvent: func(e reflector.EventInfo) {
							if name == "OnEvent" && e.Phase == reflector.Watching {
								runtime.Goexit()
							}
						},
						OnPhase: func(c reflector.PhaseChange) {
							if name == "OnPhase" && c.To == reflector.Watching {
								runtime.Goexit()
							}
						},
					}
					inf, err := informer.New(source, opts)
					require.NoError(t, err)
					_, err = inf.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{})
					require.NoError(t, err)
					ended := make(chan error, 1)
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					go func() { ended <- inf.Run(ctx) }()
					time.Sleep(time.Second)
					_, err = server.Create(newPod(key(1)))
					require.NoError(t, err)
					time.Sleep(time.Second)
					synctest.Wait()
					require.Len(t, ended, 1)
					require.ErrorContains(t, <-ended, "runtime.Goexit")
					require.ErrorIs(t, inf.Healthy(time.Minute), informer.ErrStopped)
				})
			})
		}
	}
}
