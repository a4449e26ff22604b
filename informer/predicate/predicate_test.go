package predicate_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/predicate"
)

type event = informer.Event[*corev1.Pod]

func pod(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "a", UID: "first", Generation: 1, ResourceVersion: "1",
		Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": "x"},
	}}
	if change != nil {
		change(p)
	}
	return p
}

func TestPredicatesOfChanges(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*corev1.Pod){
		"nothing":     nil,
		"generation":  func(p *corev1.Pod) { p.Generation = 2 },
		"version":     func(p *corev1.Pod) { p.ResourceVersion = "2" },
		"labels":      func(p *corev1.Pod) { p.Labels["app"] = "db" },
		"annotations": func(p *corev1.Pod) { p.Annotations = nil },
		"phase":       func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning },
		"object":      func(p *corev1.Pod) { p.UID = "second" },
	}
	for about, passes := range map[string]func(event) bool{
		"generation":  predicate.GenerationChanged[*corev1.Pod],
		"version":     predicate.ResourceVersionChanged[*corev1.Pod],
		"labels":      predicate.LabelsChanged[*corev1.Pod],
		"annotations": predicate.AnnotationsChanged[*corev1.Pod],
		"phase":       predicate.Changed(func(p *corev1.Pod) corev1.PodPhase { return p.Status.Phase }),
	} {
		for changed, change := range changes {
			e := event{Type: informer.Updated, Cause: informer.Watch, Old: pod(nil), New: pod(change)}
			require.Equal(t, changed == about || changed == "object", passes(e), "the predicate for %s, when %s changes", about, changed)
		}
		require.True(t, passes(event{Type: informer.Added, New: pod(nil)}), about)
		require.True(t, passes(event{Type: informer.Deleted, Old: pod(nil), New: pod(nil)}), about)
	}
}

// After a restore of the server from a backup, other content may have the same version and
// generation.
func TestLowerVersionsAreAChange(t *testing.T) {
	t.Parallel()
	for _, passes := range []func(event) bool{predicate.GenerationChanged[*corev1.Pod], predicate.ResourceVersionChanged[*corev1.Pod]} {
		e := event{Type: informer.Updated, Cause: informer.Relist, Old: pod(nil), New: pod(nil)}
		require.True(t, passes(e))
		e.Cause = informer.Resync
		require.False(t, passes(e))
	}
	newer := pod(func(p *corev1.Pod) { p.ResourceVersion = "2" })
	e := event{Type: informer.Updated, Cause: informer.Relist, Old: pod(nil), New: newer}
	require.False(t, predicate.GenerationChanged[*corev1.Pod](e), "an ordinary relist")
	e.Old, e.New = e.New, e.Old
	require.True(t, predicate.GenerationChanged[*corev1.Pod](e))
}

func TestPredicatesOfEvents(t *testing.T) {
	t.Parallel()
	e := event{Type: informer.Updated, Cause: informer.Resync}
	require.True(t, predicate.OfType[*corev1.Pod](informer.Added, informer.Updated)(e))
	require.False(t, predicate.OfType[*corev1.Pod](informer.Deleted)(e))
	require.True(t, predicate.CausedBy[*corev1.Pod](informer.Resync)(e))
	require.False(t, predicate.CausedBy[*corev1.Pod](informer.Watch, informer.Initial)(e))
}

func TestPredicatesCombine(t *testing.T) {
	t.Parallel()
	var called []string
	named := func(name string, result bool) func(event) bool {
		return func(event) bool { called = append(called, name); return result }
	}
	yes, no := named("yes", true), named("no", false)
	for _, c := range []struct {
		p      func(event) bool
		want   bool
		called []string
	}{
		{predicate.Any(no, yes, no), true, []string{"no", "yes"}},
		{predicate.Any(no, no), false, []string{"no", "no"}},
		{predicate.Any[*corev1.Pod](), false, nil},
		{predicate.All(yes, no, yes), false, []string{"yes", "no"}},
		{predicate.All(yes, yes), true, []string{"yes", "yes"}},
		{predicate.All[*corev1.Pod](), true, nil},
		{predicate.Not(yes), false, []string{"yes"}},
	} {
		called = nil
		handled := false
		predicate.When(c.p, func(event) { handled = true })(event{})
		require.Equal(t, c.want, handled)
		require.Equal(t, c.called, called)
	}
}
