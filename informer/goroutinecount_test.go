package informer_test

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// ownPackages matches frames of goroutines that an informer and its source started or run in.
// net/http's two goroutines for each connection do not count.
var ownPackages = regexp.MustCompile(`(?m)^github\.com/kinform/kinform/(informer|reflector|deltafifo|indexer|rest)\.`)

// ownGoroutines counts the goroutines that ownPackages matches.
func ownGoroutines() (n int) {
	all := make([]byte, 16<<20)
	all = all[:runtime.Stack(all, true)]
	for stack := range strings.SplitSeq(string(all), "\n\n") {
		// The test's own goroutine has a frame of the called package.
		if ownPackages.MatchString(stack) && !strings.Contains(stack, "goroutinecount_test.go") {
			n++
		}
	}
	return n
}

// An informer has at most three goroutines: the caller of Run, which consumes the queue, the
// reflector's goroutine, and a goroutine of package rest that reads ahead. A handler has one
// goroutine. (In client-go, an informer has 6 to 8, and a handler has 3.) This test must not run in
// parallel.
func TestGoroutinesPerInformerAndPerHandler(t *testing.T) {
	const informers, handlers = 5, 4
	server, source := newServer(t, rest.ResourceOptions{})
	for n := range 20 {
		_, err := server.Create(newPod(key(n)))
		require.NoError(t, err)
	}
	before := ownGoroutines()
	for range informers {
		inf, err := informer.New(source, informer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		start(t, inf)
		for n := range handlers {
			// A resync has a timer, but no goroutine.
			registration, err := inf.AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{Resync: time.Duration(n) * time.Minute})
			require.NoError(t, err)
			require.NoError(t, registration.WaitForSync(t.Context()))
		}
	}
	for n := range 20 { // so that each watch receives events
		pod := newPod(key(n))
		pod.Labels["changed"] = fmt.Sprint(n)
		_, err := server.Update(pod)
		require.NoError(t, err)
	}
	var n int
	require.Eventually(t, func() bool {
		n = ownGoroutines() - before
		return n == informers*(3+handlers)
	}, time.Minute, 10*time.Millisecond, "there are %d", n)
}
