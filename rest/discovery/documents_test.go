package discovery

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
)

// FuzzDocuments decodes arbitrary bytes as each kind of document that a server sends.
func FuzzDocuments(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.json", "testdata/legacy/api/*.json"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Add([]byte(`{"kind":"APIGroupDiscoveryList","items":[null,{"versions":[null,{"resources":[null]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var found collector
		_ = found.addAggregated("/apis", data)
		for _, r := range found.resources {
			require.NotEmpty(t, r.Plural)
			require.NotEmpty(t, r.Singular)
			require.NotContains(t, r.Plural, "/")
		}
		_, _ = coreVersions(data)
		_, _ = groupVersions(data)
		_, _ = resourceList(data)
	})
}

// FuzzFind searches for arbitrary names. If it finds a resource, the resource's full name must find
// the same resource. Nothing may panic.
func FuzzFind(f *testing.F) {
	data, err := os.ReadFile("testdata/aggregated/apis.json")
	require.NoError(f, err)
	var found collector
	require.NoError(f, found.addAggregated("/apis", data))
	for _, name := range []string{"pods", "deploy.apps", "hpa.v1.autoscaling", "a.b.c.d", "..", "", "\xff.\xff"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 100 {
			return
		}
		r, err := Find(found.resources, name)
		if err != nil {
			require.LessOrEqual(t, len(err.(*NotFoundError).Similar), maxSimilar)
			return
		}
		again, err := Find(found.resources, r.Plural+"."+r.Version+"."+r.Group)
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}

// TestG11_KeptResourcesAreBounded: a server may list the same resources in every discovery, and
// report them as stale as well. Comparing the resources takes linear time, and the number of kept
// resources does not grow.
func TestG11_KeptResourcesAreBounded(t *testing.T) {
	t.Parallel()
	many := make([]Resource, maxObjects+1000)
	for i := range many {
		many[i] = Resource{Group: "g", Version: "v1", Plural: "foos", Kind: "Foo"}
	}
	stale := []Failure{{GroupVersion: many[0].GVR().GroupVersion(), Err: ErrStale}}
	require.Len(t, keepFailedParts(many, many[:1000], stale), maxObjects+1000)
	many[0].ShortNames = []string{strings.Repeat("x", maxBytes)}
	require.Len(t, keepFailedParts(many, many[:1000], stale), 1000)

	n := testsize.Scale(200_000, 100_000) // a quadratic algorithm would not finish in a minute
	kept := make(chan []Resource, 1)
	go func() {
		known, failures := make([]Resource, n), make([]Failure, n)
		for i := range n {
			known[i] = Resource{Group: strconv.Itoa(i), Version: "v1", Plural: "foos", Kind: "Foo"}
			failures[n-1-i] = Failure{GroupVersion: known[i].GVR().GroupVersion(), Err: ErrStale}
		}
		kept <- keepFailedParts(known, nil, failures)
	}()
	select {
	case known := <-kept:
		require.Len(t, known, n)
	case <-time.After(time.Minute):
		require.Fail(t, "keepFailedParts must take linear time")
	}
}
