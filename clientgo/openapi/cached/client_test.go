package cached_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/cached"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// countingClient is both a client and a document. It counts its calls.
type countingClient struct {
	paths, schemas atomic.Int32
	err            error
}

func (c *countingClient) Paths() (map[string]openapi.GroupVersion, error) {
	c.paths.Add(1)
	return map[string]openapi.GroupVersion{"api/v1": c}, c.err
}

func (c *countingClient) Schema(contentType string) ([]byte, error) {
	c.schemas.Add(1)
	return []byte(contentType), c.err
}

func (c *countingClient) ServerRelativeURL() string { return "/x?hash=1" }

func TestDocumentsAreRequestedOnce(t *testing.T) {
	other := &countingClient{}
	client := cached.NewClient(other)
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			paths, err := client.Paths()
			require.NoError(t, err)
			gv := paths["api/v1"]
			require.Equal(t, "/x?hash=1", gv.ServerRelativeURL())
			for _, form := range []string{"a", "b"} {
				body, err := gv.Schema(form)
				require.NoError(t, err)
				require.Equal(t, form, string(body))
			}
			clear(paths) // the caller owns the map
		})
	}
	running.Wait()
	require.EqualValues(t, 1, other.paths.Load())
	require.EqualValues(t, 2, other.schemas.Load())

	contextual, err := client.(*cached.Client).PathsWithContext(t.Context())
	require.NoError(t, err)
	body, err := contextual["api/v1"].SchemaWithContext(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "a", string(body))
	require.EqualValues(t, 2, other.schemas.Load())
}

func TestErrorsAreNotCached(t *testing.T) {
	other := &countingClient{err: errors.New("down")}
	client := cached.NewClientWithContext(openapi.ToClientWithContext(other))
	_, err := client.Paths()
	require.EqualError(t, err, "down")
	other.err = nil
	paths, err := client.PathsWithContext(context.Background())
	require.NoError(t, err)
	other.err = errors.New("down")
	_, err = paths["api/v1"].SchemaWithContext(context.Background(), "a")
	require.EqualError(t, err, "down")
	other.err = nil
	_, err = paths["api/v1"].SchemaWithContext(context.Background(), "a")
	require.NoError(t, err)
}
