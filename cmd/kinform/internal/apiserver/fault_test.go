package apiserver

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestParseFault(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	start(t, "--kubeconfig-out", path, "--fault", "fail=403,verb=get,resource=pods,skip=1,times=1", "--fault", "fail=503,verb=get,resource=nodes")
	get := func(plural string) error {
		_, err := resource[*corev1.Pod](reach(t, path), plural).Get(t.Context(), types.NamespacedName{Namespace: "a", Name: "x"}, metav1.GetOptions{})
		return err
	}
	require.True(t, apierrors.IsNotFound(get("pods")))
	require.True(t, apierrors.IsForbidden(get("pods")))
	require.True(t, apierrors.IsNotFound(get("pods")))
	require.True(t, apierrors.IsNotFound(get("secrets")))
}

func TestEveryFaultIsParsedAndDocumented(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"fail": "500", "code": "429:2s", "too-many-requests": "1s", "delay": "1s", "cut-body": "7", "slow-body": "100", "content-type": "text/plain",
		"broken-object": "1", "drop-after-events": "2", "end-after-events": "2", "fail-after-events": "2", "silent-after-events": "2",
		"cut-frame": "2", "huge-frame": "2:1000", "delay-bookmarks": "1s",
	}
	for name := range faultActions {
		text := name
		if value := values[name]; value != "" {
			text += "=" + value
		}
		f, err := parseFault(text + ",verb=list,resource=pods,skip=1,times=2,probability=0.5")
		require.NoError(t, err, text)
		require.Equal(t, "list pods 1 2 0.5", strings.Join(strings.Fields(f.Verb+" "+f.Resource), " ")+" 1 2 0.5")
		require.Contains(t, faultHelp, name)
	}
	for want, text := range map[string]string{
		`--fault "expird" is wrong: there is no action "expird": did you mean expired?: kinform apiserver --help lists all faults`: "expird",
		`there is no action "nothing"`:                  "nothing",
		`expired takes no value`:                        "expired=1",
		`delay must be a time with its unit`:            "delay=soon",
		`cut-body must be a whole number`:               "cut-body=-1",
		`fail must be a code of HTTP`:                   "fail=200",
		`code must have a time`:                         "code=500:x",
		`content-type must be a media type`:             "content-type",
		`huge-frame must be a number of events`:         "huge-frame=1",
		`times must be a whole number`:                  "expired,times=x",
		`probability must be more than 0 and at most 1`: "expired,probability=2",
		`there is no condition "verbs"`:                 "expired,verbs=x",
	} {
		_, err := parseFault(text)
		require.ErrorContains(t, err, want)
	}
}
