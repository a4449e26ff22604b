package informer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestG11_MalformedResponsesAreReportedAndSurvived makes every list and every watch fail once, in
// every way that a server or a proxy can produce.
func TestG11_MalformedResponsesAreReportedAndSurvived(t *testing.T) {
	const hugeFrame = 2 << 30
	responses := []struct {
		name   string
		action apitest.Action
		// listOnly and watchOnly limit the fault to lists or to watches.
		listOnly, watchOnly bool
	}{
		{name: "truncated", action: apitest.CutBody(700)},
		{name: "wrong content type", action: apitest.ContentType("text/plain")},
		{name: "not even a content type", action: apitest.ContentType("; ;")},
		{name: "garbage", action: apitest.Garbage()},
		{name: "html from a proxy", action: apitest.HTML()},
		{name: "html with an error code", action: apitest.Body(502, "text/html", "<html>Bad Gateway</html>")},
		{name: "empty body", action: apitest.Empty()},
		{name: "table", action: apitest.Table()},
		{name: "2 GiB frame", action: apitest.HugeFrame(1, hugeFrame), watchOnly: true},
		{name: "cut frame", action: apitest.CutFrame(1), watchOnly: true},
		{name: "JSON of another kind", action: apitest.Body(200, "application/json", `{"kind":"Status","status":"Success"}`), listOnly: true},
		{name: "JSON that ends", action: apitest.Body(200, "application/json", `{"kind":"PodList","items":[{"metadata":{"name":"a"`), listOnly: true},
		{name: "protobuf that claims 2 GiB", action: apitest.Body(200, "application/vnd.kubernetes.protobuf", "k8s\x00\x12\xff\xff\xff\xff\x07\x12\xff\xff\xff\xff\x07"), listOnly: true},
	}
	for _, encoding := range []rest.Encoding{rest.JSON, rest.Protobuf} {
		for _, response := range responses {
			t.Run(fmt.Sprintf("%v/%s", encoding, response.name), func(t *testing.T) {
				t.Parallel()
				if encoding == rest.JSON && response.name == "2 GiB frame" {
					testsize.SkipIfShort(t, "JSON does not say how long it is, so all of it is sent")
				}
				synctest.Test(t, func(t *testing.T) {
					var reported []string
					opts := informer.Options[*corev1.Pod]{}
					opts.Reflector.OnError = onError(&reported)
					r := newRigFor(t, rest.ResourceOptions{Encoding: encoding}, opts)
					r.churn(20, 60, false)
					if !response.watchOnly {
						r.server.Inject(apitest.Fault{Verb: "list", Times: 2, Action: response.action})
					}
					if !response.listOnly {
						r.server.Inject(apitest.Fault{Verb: "watch", Times: 2, Action: response.action})
					}
					r.runSynced()
					for range 5 {
						r.churn(20, 10, false)
						time.Sleep(10 * time.Second)
					}
					r.settle()
					require.Equal(t, r.versions(), r.stored(), "the informer recovers")
					require.NoError(t, r.stop())
					require.NotEmpty(t, reported, "the informer reports the failures")
					for _, text := range reported {
						require.Contains(t, text, "/api/v1/pods", "the error names the URL")
					}
				})
			})
		}
	}
}

func TestG11_AnUndecodableObjectIsReportedAndVisible(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		for _, encoding := range []rest.Encoding{rest.JSON, rest.Protobuf} {
			for _, skip := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/%v/%v", mode, encoding, skip), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						var reported []string
						opts := informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: mode, OnError: onError(&reported), SkipUndecodable: skip}}
						r := newRigFor(t, rest.ResourceOptions{Encoding: encoding}, opts)
						for n := range 10 {
							_, err := r.server.Create(newPod(key(n)))
							require.NoError(t, err)
						}
						verb := map[reflector.ListMode]string{reflector.List: "list", reflector.WatchList: "watch"}[mode]
						broken := r.server.Inject(apitest.Fault{Verb: verb, Action: apitest.UndecodableObject(4)})
						r.run()
						synctest.Wait()
						if !skip {
							short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
							defer cancel()
							err := r.informer.WaitForSync(short)
							require.ErrorIs(t, err, reflector.ErrUndecodable)
							require.ErrorContains(t, err, "pod-", "the error names the object")
							require.ErrorIs(t, r.informer.Healthy(time.Hour), reflector.ErrUndecodable)
							require.Empty(t, r.stored(), "an incomplete list is not stored")
							require.Greater(t, broken.Hits(), 2, "the list is retried")
							broken.Remove()
							require.NoError(t, r.informer.WaitForSync(t.Context()))
							require.Len(t, r.stored(), 10)
							require.NoError(t, r.informer.Healthy(time.Hour))
							require.Empty(t, r.informer.Status().Undecodable.Objects)
							return
						}
						require.NoError(t, r.informer.WaitForSync(t.Context()))
						require.Len(t, r.stored(), 9, "all other objects are stored")
						require.Len(t, reported, 1)
						require.True(t, strings.Contains(reported[0], "pod-"), "the error names the object: %s", reported[0])
						require.Equal(t, 1, r.informer.Status().Undecodable.Count)
						require.NoError(t, r.informer.Healthy(time.Hour), "the informer is healthy because SkipUndecodable is set")
						broken.Remove()

						for n := range 10 {
							changed := newPod(key(n))
							changed.Labels["changed"] = "yes"
							_, err := r.server.Update(changed)
							require.NoError(t, err)
						}
						r.settle()
						require.Equal(t, r.versions(), r.stored(), "the object's next state is stored")
						require.Zero(t, r.informer.Status().Undecodable.Count)
					})
				})
			}
		}
	}
}
