package main

import (
	"context"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/kinform/kinform/apitest"
)

// goroutines counts the goroutines of an informer without handlers, and of a handler. The informers
// keep running for a moment after it returns.
func goroutines(s subject) (perInformer, perHandler float64, err error) {
	const informers, handlers = 10, 5
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		return 0, 0, err
	}
	if err := apitest.Populate(server, apitest.Pods(10, apitest.PodOptions{})); err != nil {
		return 0, 0, err
	}
	count := func(handlers int) (int, error) {
		ctx, cancel := context.WithCancel(context.Background())
		before := settled()
		err := s.goroutines(ctx, server.URL(), informers, handlers)
		after := settled()
		cancel()
		settled()
		return after - before, err
	}
	without, err := count(0)
	if err != nil {
		return 0, 0, err
	}
	with, err := count(handlers)
	return float64(without) / informers, float64(with-without) / (informers * handlers), err
}

// settled returns the number of the clients' goroutines, once it has been stable for a while.
func settled() int {
	n, since := clientGoroutines(), time.Now()
	for time.Since(since) < 300*time.Millisecond {
		time.Sleep(20 * time.Millisecond)
		if now := clientGoroutines(); now != n {
			n, since = now, time.Now()
		}
	}
	return n
}

// serverStacks matches the stacks of goroutines that the server started, or net/http for a
// connection.
var serverStacks = regexp.MustCompile(`(?m)^created by (github\.com/kinform/kinform/apitest|net/http)\.`)

func clientGoroutines() (n int) {
	stacks := make([]byte, 16<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if !serverStacks.MatchString(stack) {
			n++
		}
	}
	return n
}
