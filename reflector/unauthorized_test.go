package reflector_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// The server refuses a token until somebody repairs the token. Soon after that the reflector uses
// the repaired token.
func TestRepairedTokenIsUsedSoon(t *testing.T) {
	for _, repaired := range []time.Duration{5 * time.Second, 20 * time.Second, time.Minute} {
		t.Run(repaired.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(apitest.Options{BearerToken: "good"})
				defer server.Close()
				require.NoError(t, server.ListenMemory())
				file := filepath.Join(t.TempDir(), "token")
				require.NoError(t, os.WriteFile(file, []byte("good"), 0o600))
				client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext, BearerTokenFile: file}, rest.Options{})
				require.NoError(t, err)
				defer client.Close()
				sink := &plainSink{content: content{}}
				r, err := reflector.New(rest.Must(rest.NewResource[*corev1.ConfigMap](client, configMaps, rest.ResourceOptions{})), sink, reflector.Options{})
				require.NoError(t, err)
				var running sync.WaitGroup
				defer running.Wait()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				running.Go(func() { require.NoError(t, r.Run(ctx)) })
				synctest.Wait()
				require.Equal(t, reflector.Watching, r.Status().Phase)

				server.SetBearerToken("better")
				server.DropWatches("")
				time.Sleep(repaired)
				synctest.Wait()
				require.Equal(t, reflector.BackingOff, r.Status().Phase)
				require.NoError(t, os.WriteFile(file, []byte("better"), 0o600))
				// Each wait is between a quarter and a half of the time so far.
				time.Sleep(max(4*time.Second, repaired/2))
				synctest.Wait()
				require.Equal(t, reflector.Watching, r.Status().Phase, "%v", r.Status().LastError)
			})
		})
	}
}
