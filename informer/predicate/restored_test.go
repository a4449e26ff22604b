package predicate_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/predicate"
	"github.com/kinform/kinform/rest"
)

// A cluster that is restored from a backup may have other content with the same generation. It may
// also have passed the known versions. The predicate must let the change pass, even if the
// handler's events are merged because it is behind.
func TestAnotherHistoryIsAChange(t *testing.T) {
	for _, more := range []int{0, 30} {
		for _, behind := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d writes after it/behind=%v", more, behind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second})
					require.NoError(t, server.ListenMemory())
					defer server.Close()
					client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
					require.NoError(t, err)
					defer client.Close()
					inf, err := informer.New(rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{})), informer.Options[*corev1.Pod]{})
					require.NoError(t, err)

					var mu sync.Mutex
					var image string
					_, err = inf.AddHandler(predicate.When(predicate.GenerationChanged, func(e event) {
						if behind && e.Key.Name == "b" {
							time.Sleep(time.Minute)
						}
						mu.Lock()
						defer mu.Unlock()
						if e.Key.Name == "a" {
							image = e.New.Spec.Containers[0].Image
						}
					}), informer.HandlerOptions{Mailbox: 1})
					require.NoError(t, err)
					take := func() string {
						mu.Lock()
						defer mu.Unlock()
						return image
					}
					write := func(name, image, label string) {
						object, err := server.Get(corev1.SchemeGroupVersion.WithResource("pods"), types.NamespacedName{Namespace: "ns", Name: name})
						pod, ok := object.(*corev1.Pod)
						if err != nil || !ok {
							pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
							_, err = server.Create(pod)
						} else {
							pod.Spec.Containers[0].Image, pod.Labels = image, map[string]string{"label": label}
							_, err = server.Update(pod)
						}
						require.NoError(t, err)
					}

					write("a", "first", "")
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan error, 1)
					go func() { ended <- inf.Run(ctx) }()
					require.NoError(t, inf.WaitForSync(ctx))
					backup := server.Backup()
					write("a", "of the old history", "")
					synctest.Wait()
					require.Equal(t, "of the old history", take())
					write("b", "blocks", "")
					synctest.Wait()
					write("c", "fills the mailbox", "")
					write("a", "of the old history", "status alone")
					synctest.Wait()
					server.Restore(backup)
					for n := range more {
						write("d", "other", fmt.Sprint(n))
					}
					write("a", "of the new history", "")
					time.Sleep(5 * time.Minute)
					require.Equal(t, "of the new history", take())
					cancel()
					require.NoError(t, <-ended)
				})
			})
		}
	}
}
