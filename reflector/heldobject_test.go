package reflector

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// recordingSource is a source that records the options of its watches.
type recordingSource struct {
	*script
	watched []listwatch.WatchOptions
}

func (o *recordingSource) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	o.watched = append(o.watched, opts)
	return o.script.Watch(ctx, opts)
}

func TestSinkShowsItsObjectsToWatches(t *testing.T) {
	for _, mode := range []ListMode{List, WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				j := &journal{}
				m := &mirror{journal: j, content: map[types.NamespacedName]string{key("a"): "7"}}
				source := &recordingSource{script: &script{journal: j, lists: []reply{whole("10", "a@7")}, watches: []reply{play()}}}
				r, err := New(source, m, Options{ListMode: mode})
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), veryShort)
				require.NoError(t, r.Run(ctx))
				cancel()
				require.Len(t, source.watched, 1)
				require.Equal(t, "7", source.watched[0].Held(key("a")))
			})
		})
	}
}
