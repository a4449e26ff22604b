package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// TestLoginIsNotSilenceOfTheServer: a login may take longer than the idle limits of lists and
// watches. Nothing fails during the login, whatever wraps the source.
func TestLoginIsNotSilenceOfTheServer(t *testing.T) {
	t.Parallel()
	type source = listwatch.Source[*corev1.Pod]
	for name, wrap := range map[string]func(a, b source) source{
		"alone":  func(a, _ source) source { return a },
		"merged": func(a, b source) source { return sources.Merge(a, b) },
		"transformed": func(a, _ source) source {
			return sources.Transform(a, func(p *corev1.Pod) (*corev1.Pod, error) { return p, nil })
		},
	} {
		for mode, opts := range map[string]reflector.Options{"list": {}, "stream": {ListMode: reflector.WatchList}} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server := apitest.New(apitest.Options{BearerToken: "right", BookmarkInterval: time.Minute})
					require.NoError(t, server.ListenMemory())
					defer server.Close()
					logins := 0
					credential := &rest.Credential{Token: rest.NewSecret("right")}
					var last time.Time
					client, err := rest.NewClient(rest.Config{
						Host: server.URL(), DialContext: server.DialContext,
						Credentials: func(ctx context.Context, refused *rest.Credential) (*rest.Credential, error) {
							if last.IsZero() || refused == credential {
								logins++
								time.Sleep(5 * time.Minute)
								last = time.Now()
								credential = &rest.Credential{Token: rest.NewSecret("right")}
							}
							return credential, nil
						},
					}, rest.Options{})
					require.NoError(t, err)
					defer client.Close()
					var failed []error
					opts := opts
					opts.OnError = func(e reflector.Error) { failed = append(failed, e.Err) }
					resource := func(namespace string) source {
						return rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{Namespace: namespace}))
					}
					inf, err := informer.New(wrap(resource("a"), resource("b")), informer.Options[*corev1.Pod]{Reflector: opts})
					require.NoError(t, err)
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan error)
					start := time.Now()
					go func() { ended <- inf.Run(ctx) }()
					require.NoError(t, inf.WaitForSync(t.Context()))
					require.Equal(t, 5*time.Minute, time.Since(start))
					require.Equal(t, 1, logins)
					require.Empty(t, failed)
					cancel()
					require.NoError(t, <-ended)
				})
			})
		}
	}
}
