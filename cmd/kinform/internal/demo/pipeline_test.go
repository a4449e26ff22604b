package demo

import (
	"io"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
)

// The demo must detect a pipeline that falls behind. Otherwise, "stale 0" would prove nothing.
func TestStalePipelineIsDetected(t *testing.T) {
	t.Parallel()
	for want, cut := range map[string]func(*tuned){
		"the store did not catch up with the server within 1m0s":  func(p *tuned) { p.cancelInformer() },
		"the workers did not catch up with the store within 1m0s": func(p *tuned) { p.cancelWorkers() },
	} {
		synctest.Test(t, func(t *testing.T) {
			server := apitest.New(apitest.Options{})
			defer server.Close()
			require.NoError(t, server.ListenMemory())
			client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
			require.NoError(t, err)
			defer client.Close()
			p, err := newTuned(client, Options{}, nil, newJSONReport(io.Discard))
			require.NoError(t, err)
			pods := slices.Collect(apitest.Pods(2, apitest.PodOptions{}))
			_, err = server.Create(pods[0])
			require.NoError(t, err)

			p.start(4)
			require.NoError(t, p.sync(t.Context(), 1))
			require.NoError(t, p.settle(server))
			cut(p)
			synctest.Wait()
			_, err = server.Create(pods[1])
			require.NoError(t, err)
			require.ErrorContains(t, p.settle(server), want)
			require.NoError(t, p.stop())
			require.Equal(t, 1, p.summary(versions(server)).Stale)
		})
	}
}
