package await_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/await"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A wait for an object that becomes undecodable, or cannot be indexed, ends with an error that
// names the object. An object that is missing because it cannot be decoded does not count as
// deleted.
func TestWaitForAnUndecodableObjectEnds(t *testing.T) { // G2
	errBad := errors.New("it is bad")
	refuse := func(pod *corev1.Pod) error {
		if pod.Labels["bad"] != "" {
			return errBad
		}
		return nil
	}
	for _, by := range []string{"transform", "index"} {
		for _, skip := range []bool{false, true} {
			t.Run(by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second})
					require.NoError(t, server.ListenMemory())
					defer server.Close()
					client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
					require.NoError(t, err)
					defer client.Close()
					var source listwatch.Source[*corev1.Pod] = rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{}))
					opts := informer.Options[*corev1.Pod]{}
					opts.Reflector.SkipUndecodable = skip
					if by == "transform" {
						source = sources.Transform(source, func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, refuse(pod) })
					} else {
						opts.Store.Indexes = map[string]indexer.IndexFunc[*corev1.Pod]{"bad": func(pod *corev1.Pod) ([]string, error) { return nil, refuse(pod) }}
					}
					inf, err := informer.New(source, opts)
					require.NoError(t, err)
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan error, 1)
					go func() { ended <- inf.Run(ctx) }()
					require.NoError(t, inf.WaitForSync(ctx))

					wait := func(condition await.Condition[*corev1.Pod]) <-chan error {
						over := make(chan error, 1)
						go func() {
							_, err := await.Until(t.Context(), inf.Store(), web, condition)
							over <- err
						}()
						synctest.Wait()
						return over
					}
					bad := func(err error) {
						require.ErrorIs(t, err, errBad)
						object, ok := errors.AsType[*listwatch.ObjectError](err)
						require.True(t, ok)
						require.Equal(t, web, object.Key)
						require.ErrorContains(t, err, "object shop/web could not be read: ")
					}
					put := func(bad string) {
						pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name}}
						if bad != "" {
							pod.Labels = map[string]string{"bad": bad}
						}
						if _, err := server.Update(pod); err != nil {
							_, err = server.Create(pod)
							require.NoError(t, err)
						}
						synctest.Wait()
					}

					exists := wait(await.Exists[*corev1.Pod]())
					put("yes")
					bad(<-exists)
					bad(<-wait(await.Exists[*corev1.Pod]()))
					bad(<-wait(await.Deleted[*corev1.Pod]("")))
					put("")
					require.NoError(t, <-wait(await.Exists[*corev1.Pod]()))

					ready, deleted := wait(await.PodReady[*corev1.Pod]()), wait(await.Deleted[*corev1.Pod](""))
					put("yes")
					bad(<-ready)
					bad(<-deleted)
					require.NoError(t, server.Delete(corev1.SchemeGroupVersion.WithResource("pods"), web))
					synctest.Wait()
					require.NoError(t, <-wait(await.Deleted[*corev1.Pod]("")))

					// A list reports the object as well.
					server.DropWatches("")
					exists = wait(await.Exists[*corev1.Pod]())
					server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.Expired()})
					put("yes")
					server.Compact()
					bad(<-exists)
					cancel()
					require.NoError(t, <-ended)
				})
			})
		}
	}
}

// repairedStore is a store that lacks an object, because the object could not be indexed. The store
// receives the object while Until reads the store.
type repairedStore struct {
	await.Store[*corev1.Pod]
	undecodable error
}

func (*repairedStore) Notify(types.NamespacedName) (<-chan struct{}, func()) {
	return make(chan struct{}), func() {}
}

func (r *repairedStore) Entry(types.NamespacedName) (none indexer.Entry[*corev1.Pod], exists bool) {
	r.undecodable = nil // The object is stored just after this read.
	return none, false
}

func (r *repairedStore) Undecodable(types.NamespacedName) error { return r.undecodable }

func TestObjectStoredDuringACheckIsNotTakenForDeleted(t *testing.T) { // G2
	t.Parallel()
	errBad := errors.New("it is bad")
	_, err := await.Until(t.Context(), &repairedStore{undecodable: errBad}, web, await.Deleted[*corev1.Pod](""))
	require.ErrorIs(t, err, errBad)
}
