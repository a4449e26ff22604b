package informer_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// G2, G11: if a deletion cannot be decoded, or a Transform rejects it, the object is deleted at
// once, with its stored state. There is no list and no failure.
func TestAnUndecodableDeletionDeletesTheObject(t *testing.T) {
	for _, encoding := range []rest.Encoding{rest.JSON, rest.Protobuf} {
		for _, why := range []string{"bytes", "transform", "transform of a merged source"} {
			t.Run(fmt.Sprintf("%v/%v", encoding, why), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server, source := newServer(t, rest.ResourceOptions{Encoding: encoding})
					client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
					require.NoError(t, err)
					defer client.Close()
					for n := range 3 {
						_, err := server.Create(newPod(key(n)))
						require.NoError(t, err)
					}
					rejects := false
					source = sources.Transform(source, func(pod *corev1.Pod) (*corev1.Pod, error) {
						if rejects {
							return nil, errors.New("rejected")
						}
						return pod, nil
					})
					if why == "transform of a merged source" {
						source = sources.Merge(source, rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{Namespace: "elsewhere"})))
					}
					var reported []string
					opts := informer.Options[*corev1.Pod]{}
					opts.Reflector.OnError = onError(&reported)
					inf, err := informer.New(source, opts)
					require.NoError(t, err)
					var received []informer.Event[*corev1.Pod]
					_, err = inf.AddHandler(func(e informer.Event[*corev1.Pod]) { received = append(received, e) }, informer.HandlerOptions{})
					require.NoError(t, err)
					if why == "bytes" {
						server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.UndecodableObject(1)})
					}
					stop := start(t, inf)
					require.NoError(t, inf.WaitForSync(t.Context()))
					synctest.Wait()
					received = nil
					rejects = why != "bytes"

					stored, _ := inf.Store().Get(key(1))
					require.NoError(t, server.Delete(pods, key(1)))
					synctest.Wait()
					require.Len(t, reported, 1)
					require.Contains(t, reported[0], key(1).String())
					require.Equal(t, []informer.Event[*corev1.Pod]{{
						Type: informer.Deleted, Cause: informer.Watch, Key: key(1), Old: stored, New: stored,
						ResourceVersion: stored.ResourceVersion, FinalStateUnknown: true, UIDHash: listwatch.HashUID(stored.UID),
					}}, received)
					rejects = false
					again, err := server.Create(newPod(key(1)))
					require.NoError(t, err)
					synctest.Wait()
					now, _ := inf.Store().Get(key(1))
					require.Equal(t, again.GetResourceVersion(), now.ResourceVersion, "the watch delivers later events")
					require.EqualValues(t, 1, inf.Status().Reflector.Lists)
					require.Zero(t, inf.Status().Reflector.Failures)
					stop()
				})
			})
		}
	}
}
