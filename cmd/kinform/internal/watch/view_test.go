package watch

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/view"
)

// A view shows a cluster to everyone who has the token. It never shows the content of secrets.
func TestViewOfAClusterNeedsTheToken(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	put(t, s, pod("home", "a"), pod("home", "b"), pod("away", "c"))
	_, err := s.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: "key"}, Data: map[string][]byte{"password": []byte("hunter2")}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	printed, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		cmd := View()
		cmd.SetArgs([]string{"pods", "secrets", "--kubeconfig", connect(t, s)})
		cmd.SetOut(out)
		cmd.SetErr(io.Discard)
		ended <- cmd.ExecuteContext(ctx)
	}()
	text := make([]byte, 500)
	n, err := printed.Read(text)
	require.NoError(t, err)
	found := regexp.MustCompile(`(?s)\n(http://\S+/)#code=\S+\n.*token: (\S+)\n`).FindStringSubmatch(string(text[:n]))
	require.NotNil(t, found, "%s", text[:n])
	url, token := found[1], found[2]

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(token string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"parts", nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(body)
	}
	code, _ := ask("")
	require.Equal(t, http.StatusUnauthorized, code)
	var parts view.Pipelines
	require.Eventually(t, func() bool {
		code, body := ask(token)
		require.Equal(t, http.StatusOK, code)
		require.NotContains(t, body, "hunter2")
		require.NoError(t, json.Unmarshal([]byte(body), &parts))
		return parts.Pipelines[0].Synced && parts.Pipelines[1].Synced
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, []string{"pods in namespace home", "secrets in namespace home"}, []string{parts.Pipelines[0].Name, parts.Pipelines[1].Name})
	require.Equal(t, []int{2, 1}, []int{parts.Pipelines[0].Objects, parts.Pipelines[1].Objects})
	cancel()
	require.NoError(t, <-ended)
}

func TestInvalidViewArguments(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	config := connect(t, s)
	for want, args := range map[string][]string{
		"name resources to view, such as pods; 0 were given":  {},
		"--all-namespaces and --namespace contradict":         {"pods", "-A", "-n", "x"},
		"--replay shows a recording: leave out resources and": {"pods", "--replay", "x"},
		"--replay: stat x":      {"--replay", "x"},
		"cannot serve the page": {"pods", "--listen", "256.0.0.1:0"},
		`"podz"`:                {"pods", "podz"},
	} {
		cmd := View()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(append(args, "--kubeconfig", config))
		cmd.SetOut(io.Discard)
		require.ErrorContains(t, cmd.ExecuteContext(t.Context()), want)
	}
}
