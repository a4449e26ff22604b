package consistencydetector_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/consistencydetector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pod(name, version string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: version}}
}

func TestACheckPanicsWhenTheListDiffers(t *testing.T) {
	a, b := pod("a", "1"), pod("b", "2")
	for _, c := range []struct {
		name              string
		version           string
		options           metav1.ListOptions
		listed, retrieved []*v1.Pod
		transform         consistencydetector.TransformFunc
		failures          int
		asked             *metav1.ListOptions // options of the last list; nil if there was no list
		panics            string
	}{
		{name: "equal, in another order", version: "5", listed: []*v1.Pod{a, b}, retrieved: []*v1.Pod{b, a}, asked: &metav1.ListOptions{}},
		{name: "one is missing", version: "5", listed: []*v1.Pod{a, b}, retrieved: []*v1.Pod{b}, asked: &metav1.ListOptions{}, panics: "data inconsistency detected for pods, panicking!"},
		{name: "one too many", version: "5", listed: []*v1.Pod{a}, retrieved: []*v1.Pod{b, a}, asked: &metav1.ListOptions{}, panics: "data inconsistency detected for pods, panicking!"},
		{name: "one is older", version: "5", listed: []*v1.Pod{a}, retrieved: []*v1.Pod{pod("a", "0")}, asked: &metav1.ListOptions{}, panics: "data inconsistency detected for pods, panicking!"},
		{name: "no version", version: "", listed: []*v1.Pod{a}, retrieved: []*v1.Pod{a}, asked: &metav1.ListOptions{}},
		{name: "version 0", version: "0", listed: []*v1.Pod{a}},
		{name: "a page", version: "5", options: metav1.ListOptions{Continue: "x"}, listed: []*v1.Pod{a}},
		{name: "a limit that a watch cache has ignored", version: "5", options: metav1.ListOptions{ResourceVersion: "0", Limit: 1, LabelSelector: "l"}, listed: []*v1.Pod{a, b}, retrieved: []*v1.Pod{a, b}, asked: &metav1.ListOptions{LabelSelector: "l"}},
		{name: "a limit", version: "5", options: metav1.ListOptions{ResourceVersion: "0", Limit: 2}, listed: []*v1.Pod{a, b}, retrieved: []*v1.Pod{a, b}, asked: &metav1.ListOptions{Limit: 2}},
		{name: "transformed", version: "5", listed: []*v1.Pod{a}, retrieved: []*v1.Pod{b}, asked: &metav1.ListOptions{}, transform: func(any) (any, error) { return b, nil }},
		{name: "lists that fail", version: "5", listed: []*v1.Pod{a}, retrieved: []*v1.Pod{a}, asked: &metav1.ListOptions{}, failures: 3},
		{name: "lists that always fail", version: "5", listed: []*v1.Pod{a}, asked: &metav1.ListOptions{}, failures: 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var asked *metav1.ListOptions
				check := func() {
					consistencydetector.CheckDataConsistency(ctx, "pods", c.version, func(_ context.Context, options metav1.ListOptions) (*v1.PodList, error) {
						asked = &options
						if c.failures--; c.failures >= 0 {
							return nil, errors.New("refused")
						}
						list := &v1.PodList{}
						for _, p := range c.listed {
							list.Items = append(list.Items, *p)
						}
						return list, nil
					}, c.transform, c.options, func() []*v1.Pod { return c.retrieved })
				}
				if c.panics == "" {
					check()
				} else {
					require.PanicsWithValue(t, c.panics, check)
				}
				if c.asked != nil {
					c.asked.ResourceVersion, c.asked.ResourceVersionMatch = c.version, metav1.ResourceVersionMatchExact
				}
				require.Equal(t, c.asked, asked)
			})
		})
	}
}

func TestTheCheckOfStreamingListsCanBeSwitchedOn(t *testing.T) {
	require.False(t, consistencydetector.IsDataConsistencyDetectionForWatchListEnabled())
	restore := consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true)
	require.True(t, consistencydetector.IsDataConsistencyDetectionForWatchListEnabled())
	restore()
	require.False(t, consistencydetector.IsDataConsistencyDetectionForWatchListEnabled())
}
