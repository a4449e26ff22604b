package sources_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// goexitSource is a source that ends its caller's goroutine by runtime.Goexit.
type goexitSource struct {
	listwatch.Source[*corev1.Pod]
	list, watch bool
}

func (l goexitSource) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[*corev1.Pod], error) {
	if l.list {
		runtime.Goexit()
	}
	return l.Source.List(ctx, opts)
}

func (l goexitSource) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*corev1.Pod], error) {
	if l.watch {
		runtime.Goexit()
	}
	return l.Source.Watch(ctx, opts)
}

// G10: a part that ends the goroutine of a merged source fails at once, with an error that says so.
// Nothing waits for a timeout, and no goroutine remains.
func TestGoexitInAPartIsAFailure(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		for name, part := range map[string]goexitSource{"list": {list: true, watch: true}, "watch": {watch: true}, "transform": {}} {
			t.Run(mode.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server, source := newServer(t, rest.ResourceOptions{})
					part.Source = source
					bad := listwatch.Source[*corev1.Pod](part)
					if name == "transform" {
						bad = sources.Transform(source, func(pod *corev1.Pod) (*corev1.Pod, error) {
							if pod.Name == key(1).Name {
								runtime.Goexit()
							}
							return pod, nil
						})
					}
					client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
					require.NoError(t, err)
					defer client.Close()
					opts := informer.Options[*corev1.Pod]{}
					opts.Reflector.ListMode = mode
					inf, err := informer.New(sources.Merge(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{Namespace: "elsewhere"})), bad), opts)
					require.NoError(t, err)
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan error, 1)
					go func() { ended <- inf.Run(ctx) }()
					time.Sleep(2 * time.Second)
					if name == "transform" {
						require.NoError(t, inf.WaitForSync(t.Context()))
						_, err = server.Create(newPod(key(1)))
						require.NoError(t, err)
					}
					time.Sleep(5 * time.Second)
					synctest.Wait()
					select {
					case err := <-ended: // A list is read in the reflector's own goroutine.
						require.Equal(t, "transform", name)
						require.ErrorContains(t, err, "runtime.Goexit")
					default:
						status := inf.Status().Reflector
						require.NotZero(t, status.Failures)
						require.ErrorContains(t, status.LastError, "runtime.Goexit")
						cancel()
						require.NoError(t, <-ended)
					}
					cancel()
				})
			})
		}
	}
}

// Describe implements listwatch.Describer.
func (l goexitSource) Describe(context.Context) (map[string]string, error) {
	if l.list {
		runtime.Goexit()
	}
	return map[string]string{"a": "b"}, nil
}

func TestGoexitInADescriptionIsAnError(t *testing.T) {
	t.Parallel()
	_, err := sources.Merge[*corev1.Pod](goexitSource{}, goexitSource{list: true}).(listwatch.Describer).Describe(t.Context())
	require.ErrorContains(t, err, "runtime.Goexit")
}
