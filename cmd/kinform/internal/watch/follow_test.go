package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

func TestTableHasObjectsAndThenTheirChanges(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	put(t, s, pod("a", "first"))
	w := start(t, "pods", "-A", "--kubeconfig", connect(t, s))
	require.Equal(t, "EVENT    NAMESPACE    NAME                      STATUS       AGE    VERSION", w.next())
	require.Regexp(t, `^Added    a            first                     Pending      \d+s +2$`, w.next())

	put(t, s, pod("b", "second-with-a-name-that-is-longer"))
	require.Regexp(t, `^Added    b            second-with-a-name-that-is-longer  Pending      \d+s +3$`, w.next())
	change(t, s, "b", "second-with-a-name-that-is-longer")
	require.Regexp(t, `^Updated  b            second-with-a-name-that-is-longer  Pending      \d+s +4$`, w.next())
	require.NoError(t, s.Delete(pods, types.NamespacedName{Namespace: "a", Name: "first"}))
	require.Regexp(t, `^Deleted  a            first                              Pending      \d+s +5$`, w.next())
	require.NoError(t, w.stop())
	require.Empty(t, w.errOut.String())
}

func TestResourceNames(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{Resources: []apitest.Resource{{
		Group: "example.com", Version: "v1", Plural: "gadgets", Kind: "Gadget", ShortNames: []string{"gd"},
	}}})
	put(t, s, pod("home", "p"))
	_, err := s.Create(gadget("home", "g", nil))
	require.NoError(t, err)
	config := connect(t, s)
	for want, names := range map[string][]string{
		"Pod":    {"pods", "pod", "po", "Pod", "PODS", "pods.v1."},
		"Gadget": {"gadgets", "gadget", "gd", "Gadget", "gadgets.example.com", "gd.example", "gadgets.v1.example.com"},
	} {
		for _, name := range names {
			w := start(t, name, "-o", "json", "--kubeconfig", config)
			require.Equal(t, want, w.event().Object["kind"], name)
			require.NoError(t, w.stop())
		}
	}
}

func TestNamespacesAndSelectorsSelectObjects(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	put(t, s, pod("home", "h", "app", "web"), pod("away", "a", "app", "web"), pod("away", "b", "app", "db"))
	config := connect(t, s)
	for want, flags := range map[string][]string{
		"home/h":               nil, // the namespace of the context
		"away/a away/b":        {"-n", "away"},
		"away/a away/b home/h": {"--all-namespaces"},
		"away/a home/h":        {"-A", "-l", "app in (web)"},
		"away/b":               {"-A", "--selector", "app!=web"},
		"away/a":               {"-A", "--field-selector", "metadata.name=a"},
		"":                     {"-n", "away", "-l", "app=web", "--field-selector", "metadata.name!=a"},
	} {
		w := start(t, append(flags, "pods", "-o", "json", "--kubeconfig", config)...)
		if want == "" {
			w.requireStderr("kinform: there are no pods in namespace away that match yet: waiting for the first\n")
			continue
		}
		var got []string
		for range strings.Fields(want) {
			got = append(got, keyOf(w.event()).String())
		}
		require.ElementsMatch(t, strings.Fields(want), got)

		// The first change comes immediately after them, so there were no other events.
		namespace, name, _ := strings.Cut(got[0], "/")
		change(t, s, namespace, name)
		require.Equal(t, "Updated", w.event().Type)
		require.NoError(t, w.stop())
	}
}

func keyOf(e eventOutput) types.NamespacedName {
	metadata := e.Object["metadata"].(map[string]any)
	return types.NamespacedName{Namespace: metadata["namespace"].(string), Name: metadata["name"].(string)}
}

// change updates a pod.
func change(t *testing.T, s *apitest.Server, namespace, name string) {
	t.Helper()
	object, err := s.Get(pods, types.NamespacedName{Namespace: namespace, Name: name})
	require.NoError(t, err)
	object = object.(*corev1.Pod).DeepCopy()
	object.SetAnnotations(map[string]string{"version": object.GetResourceVersion()})
	_, err = s.Update(object)
	require.NoError(t, err)
}

func TestClusterScopedResourcesHaveNoNamespace(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	node := &corev1.Node{}
	node.Name = "n1"
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse}}
	_, err := s.Create(node)
	require.NoError(t, err)
	w := start(t, "no", "-n", "ignored", "--kubeconfig", connect(t, s))
	require.NotContains(t, w.next(), "NAMESPACE")
	require.Regexp(t, `^Added    n1 +NotReady `, w.next())
	require.NoError(t, w.stop())
}

func TestWatchRecoversFromFaults(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	put(t, s, pod("home", "a"))
	w := start(t, "pods", "--kubeconfig", connect(t, s))
	w.next()
	w.next()
	require.Eventually(t, func() bool { return s.Watches("pods") == 1 }, time.Minute, time.Millisecond)
	s.DropWatches("pods")
	put(t, s, pod("home", "b"))
	require.Contains(t, w.next(), "b ")
	require.NoError(t, w.stop())
	require.Regexp(t, `^kinform: watching failed, next attempt in \S+: the connection was lost within the response: unexpected EOF\n$`, w.errOut.String())
}

func TestFirstListIsRetriedAfterTemporaryErrors(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	s.Inject(apitest.Fault{Verb: "list", Resource: "pods", Times: 1, Action: apitest.TooManyRequests(time.Second)})
	put(t, s, pod("home", "a"))
	w := start(t, "pods", "--kubeconfig", connect(t, s))
	w.next()
	require.Contains(t, w.next(), " a ")
	require.NoError(t, w.stop())
	require.Regexp(t, `^kinform: listing failed, next attempt in \S+: the server has received too many requests.*\n$`, w.errOut.String())
}

func TestForEndsTheWatch(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	put(t, s, pod("home", "a"))
	w := start(t, "pods", "--for", "300ms", "--kubeconfig", connect(t, s))
	require.NoError(t, w.wait())

	s.Inject(apitest.Fault{Verb: "list", Resource: "pods", Action: apitest.Delay(time.Minute)})
	w = start(t, "pods", "--for", "50ms", "--kubeconfig", connect(t, s))
	require.EqualError(t, w.wait(), "the time of --for ended before the first list was complete: give more time")
}
