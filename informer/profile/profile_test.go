package profile_test

import (
	"bytes"
	"context"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/profile"
	"github.com/kinform/kinform/rest"
)

// A goroutine profile names every stage of an informer and every handler, including a late one, and
// keeps the program's own labels.
func TestGoroutinesHaveLabels(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, apitest.Options{})
	_, err := server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "a"}})
	require.NoError(t, err)
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	pods, err := informer.New(rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{})), informer.Options[*corev1.Pod]{Name: "labelled", Goroutine: profile.Labels})
	require.NoError(t, err)
	begun, goOn := make(chan struct{}), make(chan struct{})
	handle := func(informer.Event[*corev1.Pod]) {
		begun <- struct{}{}
		<-goOn
	}
	_, err = pods.AddHandler(handle, informer.HandlerOptions{Name: "early"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go pprof.Do(ctx, pprof.Labels("program", "mine"), func(ctx context.Context) { ended <- pods.Run(ctx) })
	<-begun
	_, err = pods.AddHandler(handle, informer.HandlerOptions{Name: "late"})
	require.NoError(t, err)
	<-begun
	for _, labels := range []string{
		`{"informer":"labelled", "program":"mine", "stage":"reflect"}`,
		`{"informer":"labelled", "program":"mine", "stage":"store"}`,
		`{"handler":"early", "informer":"labelled", "program":"mine", "stage":"handle"}`,
		`{"handler":"late", "informer":"labelled", "program":"mine", "stage":"handle"}`,
	} {
		require.Eventually(t, func() bool {
			var goroutines bytes.Buffer
			require.NoError(t, pprof.Lookup("goroutine").WriteTo(&goroutines, 1))
			return bytes.Contains(goroutines.Bytes(), []byte(labels))
		}, time.Minute, time.Millisecond, labels)
	}
	close(goOn)
	cancel()
	require.NoError(t, <-ended)
}
