package sources_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// slim is the kept part of a pod, without even its name or version (D12).
type slim struct{ changed string }

// SI-30, D12, D23: each object is transformed once, however it arrives. Store and handlers see the
// result, which may have another type.
func TestTransformRunsOncePerObject(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, source := newServer(t, rest.ResourceOptions{})
				for n := range 5 {
					_, err := server.Create(newPod(key(n)))
					require.NoError(t, err)
				}
				var mu sync.Mutex // guards following
				transformed := map[string]int{}
				total := func() (n int) {
					mu.Lock()
					defer mu.Unlock()
					for _, times := range transformed {
						n += times
					}
					return n
				}
				var reported []string
				opts := informer.Options[slim]{}
				opts.Reflector = reflector.Options{ListMode: mode, SkipUndecodable: true}
				opts.Reflector.OnError = func(e reflector.Error) { reported = append(reported, e.Error()) }
				inf, err := informer.New(sources.Transform(source, func(pod *corev1.Pod) (slim, error) {
					mu.Lock()
					defer mu.Unlock()
					transformed[pod.Name+"@"+pod.ResourceVersion]++
					switch pod.Name {
					case key(3).Name:
						return slim{}, errors.New("this one cannot be transformed")
					case key(4).Name:
						panic("nor this one")
					}
					return slim{pod.Labels["changed"]}, nil
				}), opts)
				require.NoError(t, err)
				var events []string
				_, err = inf.AddHandler(func(e informer.Event[slim]) {
					events = append(events, fmt.Sprint(e.Type, e.Key, e.Old, e.New))
				}, informer.HandlerOptions{})
				require.NoError(t, err)
				stop := start(t, inf)
				require.NoError(t, inf.WaitForSync(t.Context()))
				synctest.Wait()
				require.Equal(t, 5, total())
				require.Len(t, events, 3, "the list's other objects are delivered")

				changed := newPod(key(1))
				changed.Labels["changed"] = "yes"
				_, err = server.Update(changed)
				require.NoError(t, err)
				require.NoError(t, inf.Store().WaitRV(t.Context(), server.ResourceVersion()))
				synctest.Wait()
				require.Equal(t, 6, total())
				require.Equal(t, "Updated "+key(1).String()+" {} {yes}", events[len(events)-1], "the event is an update, although the transform removed the version from the object")

				require.NoError(t, server.Delete(pods, key(1)))
				require.NoError(t, inf.Store().WaitRV(t.Context(), server.ResourceVersion()))
				synctest.Wait()
				require.Equal(t, "Deleted "+key(1).String()+" {yes} {yes}", events[len(events)-1])
				stop()
				for object, times := range transformed {
					if !strings.HasPrefix(object, key(3).Name) && !strings.HasPrefix(object, key(4).Name) {
						require.Equal(t, 1, times, object)
					}
				}
				errs := strings.Join(reported, "\n")
				require.Contains(t, errs, "this one cannot be transformed")
				require.Contains(t, errs, "nor this one")
				require.Contains(t, errs, key(3).Name)
			})
		})
	}
}

// The transformed source has the name of the source behind it.
func TestATransformedSourceHasAName(t *testing.T) {
	t.Parallel()
	_, source := newServer(t, rest.ResourceOptions{})
	identity := func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }
	require.Equal(t, fmt.Sprint(source), fmt.Sprint(sources.Transform(source, identity)))
	require.Equal(t, "source", fmt.Sprint(sources.Transform[*obj, *obj](newFake(""), func(o *obj) (*obj, error) { return o, nil })))
}

// events is a source whose watch has one event.
type events struct {
	listwatch.Source[int]
	event listwatch.Event[int]
}

func (e events) Watch(context.Context, listwatch.WatchOptions) (listwatch.WatchStream[int], error) {
	return e, nil
}

func (e events) Next() (listwatch.Event[int], error) { return e.event, nil }

func (e events) Close() error { return nil }

func TestTransformKeepsTheMetadataOfItems(t *testing.T) {
	t.Parallel()
	sent := listwatch.Event[int]{
		Type:             listwatch.Modified,
		Item:             listwatch.Item[int]{Key: key(1), Object: 1, ResourceVersion: "2"},
		InitialEventsEnd: true, Unordered: true,
	}
	source := sources.Transform[int](events{event: sent}, func(n int) (int, error) { return n + 1, nil })
	stream, err := source.Watch(t.Context(), listwatch.WatchOptions{})
	require.NoError(t, err)
	defer stream.Close()
	got, err := stream.Next()
	require.NoError(t, err)
	sent.Object = 2
	require.Equal(t, sent, got)
}

// The function owns its object and may change it in place. So the object must share nothing with a
// stored object (G3). Parts that the function does not change are shared in the store nevertheless.
func TestTransformChangesNoStoredObject(t *testing.T) {
	for _, encoding := range []rest.Encoding{rest.Protobuf, rest.JSON} {
		for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
			t.Run(fmt.Sprint(encoding, " ", mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, source := newServer(t, rest.ResourceOptions{Encoding: encoding})
					const n = 4
					for i := range n {
						pod := newPod(key(i))
						pod.Spec.Tolerations = []corev1.Toleration{{Key: "same"}}
						pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
						_, err := server.Create(pod)
						require.NoError(t, err)
					}
					inf, err := informer.New(sources.Transform(source, func(pod *corev1.Pod) (*corev1.Pod, error) {
						if pod.Name == key(n-1).Name || pod.Status.Phase == corev1.PodSucceeded {
							pod.Spec.Tolerations[0].Key = "changed"
							clear(pod.Labels)
						}
						return pod, nil
					}), informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode}})
					require.NoError(t, err)
					stop := start(t, inf)
					require.NoError(t, inf.WaitForSync(t.Context()))
					var before []*corev1.Pod
					for i := range n - 1 {
						pod, ok := inf.Store().Get(key(i))
						require.True(t, ok)
						before = append(before, pod)
					}

					pod := newPod(key(0))
					pod.Spec.Tolerations = []corev1.Toleration{{Key: "same"}}
					pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
					pod.Status.Phase = corev1.PodSucceeded
					_, err = server.Update(pod)
					require.NoError(t, err)
					require.NoError(t, inf.Store().WaitRV(t.Context(), server.ResourceVersion()))
					for _, pod := range before {
						require.Equal(t, "same", pod.Spec.Tolerations[0].Key)
						require.Equal(t, map[string]string{"app": "web"}, pod.Labels)
					}
					after, ok := inf.Store().Get(key(0))
					require.True(t, ok)
					require.Equal(t, "changed", after.Spec.Tolerations[0].Key)
					last, ok := inf.Store().Get(key(n - 1))
					require.True(t, ok)
					require.Equal(t, "changed", last.Spec.Tolerations[0].Key)
					require.Same(t, before[n-2].Spec.Affinity, last.Spec.Affinity, "an unchanged part is shared by two pods")
					require.Same(t, last.Spec.Affinity, after.Spec.Affinity)
					stop()
				})
			})
		}
	}
}
