package cache

import (
	"context"

	"k8s.io/client-go/internal/sink"
	"k8s.io/client-go/util/consistencydetector"

	"github.com/kinform/kinform/listwatch"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// checksStreamedLists reports whether the environment enables a check of each streaming list.
func checksStreamedLists() bool {
	return consistencydetector.IsDataConsistencyDetectionForWatchListEnabled()
}

// checkStreamed compares a streaming list with a list of the same version, and panics if they
// differ. It compares the objects as the server has sent them, before transforms.
func (s *storeSink) checkStreamed(items []listwatch.Item[any], resourceVersion string) {
	list := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return s.reflector.lw.ListWithContext(ctx, options)
	}
	retrieve := func() []any {
		objs := make([]any, len(items))
		for i := range items {
			objs[i] = sink.Object(items[i].Object)
		}
		return objs
	}
	consistencydetector.CheckDataConsistency(s.ctx, s.reflector.name, resourceVersion, list, nil, metav1.ListOptions{}, retrieve)
}
