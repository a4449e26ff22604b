package sources_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/sharing"
)

// ownSource is a custom source with one object in a list and another in a watch.
type ownSource struct{ listed, watched *unstructured.Unstructured }

func (m ownSource) item(object *unstructured.Unstructured, version string) listwatch.Item[*unstructured.Unstructured] {
	return listwatch.Item[*unstructured.Unstructured]{Key: types.NamespacedName{Name: object.GetName()}, Object: object, ResourceVersion: version}
}

func (m ownSource) List(context.Context, listwatch.ListOptions) (listwatch.ListStream[*unstructured.Unstructured], error) {
	return &ownList{m, false}, nil
}

func (m ownSource) Watch(ctx context.Context, _ listwatch.WatchOptions) (listwatch.WatchStream[*unstructured.Unstructured], error) {
	return &ownWatch{m, ctx, false}, nil
}

type ownList struct {
	ownSource
	done bool
}

func (l *ownList) Next() (item listwatch.Item[*unstructured.Unstructured], err error) {
	if l.done {
		return item, io.EOF
	}
	l.done = true
	return l.item(l.listed, "1"), nil
}

func (l *ownList) Meta() listwatch.ListMeta { return listwatch.ListMeta{ResourceVersion: "1"} }

func (l *ownList) Close() error { return nil }

type ownWatch struct {
	ownSource
	ctx  context.Context
	done bool
}

func (w *ownWatch) Next() (event listwatch.Event[*unstructured.Unstructured], err error) {
	if w.done {
		<-w.ctx.Done()
		return event, w.ctx.Err()
	}
	w.done = true
	event.Type, event.Item = listwatch.Added, w.item(w.watched, "2")
	return event, nil
}

func (w *ownWatch) Close() error { return nil }

// The objects of a custom source share no parts that Transform knows of. So they need no copy,
// which would panic for content that JSON does not have.
func TestATransformGetsTheObjectsOfACustomSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		object := func(name string) *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}, "n": 7, "words": []string{"a"}}}
		}
		source := ownSource{object("listed"), object("watched")}
		same := func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) { return u, nil }
		inf, err := informer.New(sources.Transform(sources.Transform(source, same), same), informer.Options[*unstructured.Unstructured]{})
		require.NoError(t, err)
		start(t, inf)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, inf.WaitForSync(ctx))
		synctest.Wait()
		for _, object := range []*unstructured.Unstructured{source.listed, source.watched} {
			stored, ok := inf.Store().Get(types.NamespacedName{Name: object.GetName()})
			require.True(t, ok)
			require.Same(t, object, stored)
		}
		require.Zero(t, inf.Status().Undecodable.Count)
	})
}

// A transform after another transform owns its object too, whatever the intermediate type is.
func TestATransformAfterATransformOwnsItsObject(t *testing.T) { // G3
	for _, encoding := range []rest.Encoding{rest.Protobuf, rest.JSON} {
		for name, after := range map[string]func(listwatch.Source[*corev1.Pod], func(*corev1.Pod)) listwatch.Source[*corev1.Pod]{
			"a pod": func(source listwatch.Source[*corev1.Pod], change func(*corev1.Pod)) listwatch.Source[*corev1.Pod] {
				return sources.Transform(source, func(pod *corev1.Pod) (*corev1.Pod, error) { change(pod); return pod, nil })
			},
			"an interface": func(source listwatch.Source[*corev1.Pod], change func(*corev1.Pod)) listwatch.Source[*corev1.Pod] {
				loose := sources.Transform(source, func(pod *corev1.Pod) (any, error) { return pod, nil })
				return sources.Transform(loose, func(object any) (*corev1.Pod, error) {
					change(object.(*corev1.Pod))
					return object.(*corev1.Pod), nil
				})
			},
		} {
			t.Run(fmt.Sprint(encoding, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server, source := newServer(t, rest.ResourceOptions{Encoding: encoding})
					for i := range 3 {
						pod := newPod(key(i))
						pod.Spec.Tolerations = []corev1.Toleration{{Key: "same"}}
						_, err := server.Create(pod)
						require.NoError(t, err)
					}
					first := sources.Transform[*corev1.Pod](source, func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil })
					inf, err := informer.New(after(first, func(pod *corev1.Pod) {
						if pod.Name == key(2).Name {
							pod.Spec.Tolerations[0].Key = "changed"
						}
					}), informer.Options[*corev1.Pod]{})
					require.NoError(t, err)
					start(t, inf)
					require.NoError(t, inf.WaitForSync(t.Context()))
					for i, want := range []string{"same", "same", "changed"} {
						pod, ok := inf.Store().Get(key(i))
						require.True(t, ok)
						require.Equal(t, want, pod.Spec.Tolerations[0].Key)
					}
				})
			})
		}
	}
}

// ownDecoder is a custom Decoder whose objects may share parts.
type ownDecoder struct{ rest.Decoder }

// Objects of a custom Decoder may share parts, which only the program knows.
func TestATransformOwnsTheObjectsOfACustomDecoder(t *testing.T) { // G3
	for _, encoding := range []rest.Encoding{rest.Protobuf, rest.JSON} {
		t.Run(fmt.Sprint(encoding), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, source := newServer(t, rest.ResourceOptions{Encoding: encoding, Decoder: ownDecoder{sharing.New(sharing.Options{})}})
				for i := range 3 {
					_, err := server.Create(newPod(key(i)))
					require.NoError(t, err)
				}
				inf, err := informer.New(sources.Transform(source, func(pod *corev1.Pod) (*corev1.Pod, error) {
					pod.Labels["app"] += "+"
					return pod, nil
				}), informer.Options[*corev1.Pod]{})
				require.NoError(t, err)
				start(t, inf)
				require.NoError(t, inf.WaitForSync(t.Context()))
				for i := range 3 {
					pod, ok := inf.Store().Get(key(i))
					require.True(t, ok)
					require.Equal(t, "web+", pod.Labels["app"])
				}
			})
		})
	}
}
