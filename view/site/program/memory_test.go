package main

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/view/lab"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The server's history uses at most half of the memory limit, even after it has been sent as JSON.
func TestHistoryFitsIntoTheMemoryLimit(t *testing.T) {
	testsize.SkipIfShort(t, "the server drops changes only after thousands of writes")
	l, err := lab.New(lab.Options{Window: window})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ran)
	}()
	_, err = l.Do(ctx, "encoding", map[string]string{"encoding": "json"})
	require.NoError(t, err)
	for oldest := 0; oldest < 100; { // until the server has dropped some changes
		_, err = l.Do(ctx, "burst", map[string]string{"n": "500"})
		require.NoError(t, err)
		require.Eventually(t, func() bool { return l.Status().Reflector.ResourceVersion == l.Server().ResourceVersion() }, time.Minute, time.Millisecond)
		oldest, err = strconv.Atoi(l.Server().OldestResourceVersion())
		require.NoError(t, err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d of %d MB are in use", m.HeapAlloc>>20, memoryLimit>>20)
	require.Less(t, m.HeapAlloc, uint64(memoryLimit/2))
}
