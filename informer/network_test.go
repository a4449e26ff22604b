package informer_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/effort"
	"github.com/kinform/kinform/internal/tcpproxy"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

var formats = []format{{encoding: rest.Protobuf}, {encoding: rest.Protobuf, shared: true}, {encoding: rest.JSON}}

// run runs the informer until every faulty connection is over, and then checks
// that it has what the server has, and never had anything else. stall is how long
// it may take to notice that a connection has become half-open.
func (n brokenNetwork) run(t *testing.T, patience, stall time.Duration, reach reach) {
	rig, end := n.start(t, reach)
	defer end()
	rig.breakAll(t, patience, func(int) {})
	for range manyPods {
		rig.sent.change(t)
	}
	rig.settle(t, patience)
	if n.kind == tcpproxy.Stall {
		rig.proxy.Stall()
		rig.sent.change(t)
		rig.settle(t, stall)
	}
	require.NoError(t, rig.handler.WaitForSync(t.Context()))
	require.Empty(t, rig.wrong(t), "no loss, and what is stored is what was sent")
	rig.stop()
	require.NotEmpty(t, rig.received.pods)
	for _, pod := range rig.received.pods {
		require.True(t, equality.Semantic.DeepEqual(rig.sent.states[pod.ResourceVersion], pod), "no handler ever saw anything else")
	}
}

// brokenNetworks calls f for every way in which a network breaks.
func brokenNetworks(f func(name string, n brokenNetwork)) {
	formats := effort.Samples(formats, 2) // each kind of format has the same network
	for _, secure := range []bool{false, true} {
		for _, kind := range []tcpproxy.Kind{tcpproxy.Reset, tcpproxy.Cut, tcpproxy.Stall, tcpproxy.Trickle, tcpproxy.Corrupt} {
			if kind == tcpproxy.Corrupt && !secure {
				continue // see TestCorruptionWithoutTLS
			}
			for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
				for _, format := range formats {
					f(fmt.Sprintf("%v/TLS=%t/%v/%v", kind, secure, mode, format),
						brokenNetwork{mode: mode, format: format, secure: secure, kind: kind, faulty: effort.Of(12, 6), within: 12_000})
				}
			}
		}
	}
}

// G2, G10, G11: a half-open connection is noticed with the defaults within 45
// seconds on HTTP/2, and three minutes on HTTP/1. Time is virtual.
func TestNetworkThatBreaks(t *testing.T) {
	brokenNetworks(func(name string, n brokenNetwork) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n.pause = time.Millisecond
				stall := 3*time.Minute + 2*time.Second
				if n.secure {
					stall = 47 * time.Second
				}
				n.run(t, 2*time.Hour, stall, inMemory)
			})
		})
	})
}

// The same over TCP, with short times, so that connections are really reset and
// what leaks would be seen.
func TestTCPThatBreaks(t *testing.T) {
	effort.SkipUnlessAll(t, "its time is real")
	brokenNetworks(func(name string, n brokenNetwork) {
		if n.kind == tcpproxy.Stall && n.secure || n.format.shared {
			return // noticed after 45 seconds, a connection at a time, see above; or no matter of TCP
		}
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			n.faulty = 4
			n.options.BookmarkInterval = 100 * time.Millisecond
			n.config.HeaderTimeout = time.Second
			n.retry = reflector.Options{
				ListProgressTimeout: 500 * time.Millisecond, WatchIdleTimeout: 500 * time.Millisecond,
				Backoff: reflector.Backoff{Base: 5 * time.Millisecond, Max: 50 * time.Millisecond},
			}
			n.run(t, time.Minute, 10*time.Second, overTCP)
		})
	})
}

// Only with TLS is everything noticed that a network does to bytes. Without, TCP's
// checksum has to, and HTTP has none: a bit that is inverted may make another object
// that is as good as the one that was sent, or another version of it, or of all.
// What is promised then is this: nothing panics and nothing waits for ever, what is
// malformed is noticed, and the first snapshot over a network that works brings
// every object whose version differs from the stored one, while an object that is
// wrong under the right version stays until it changes.
func TestCorruptionWithoutTLS(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		for _, format := range formats {
			t.Run(fmt.Sprintf("%v/%v", mode, format), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					// A wrong version may lie in the future, on which the server insists for
					// as long as it takes to be believed.
					n := brokenNetwork{mode: mode, format: format, kind: tcpproxy.Corrupt, faulty: effort.Of(500, 100), within: 2_000}
					rig, end := n.start(t, inMemory)
					defer end()
					rig.breakAll(t, 10*time.Hour, func(change int) {
						if change%4 == 3 { // or a connection on which nobody noticed anything would last
							rig.server.DropWatches("")
						}
					})
					// The watch may have one of the faulty connections, and so may who keeps it for
					// the next request.
					for range 2 {
						rig.server.DropWatches("")
						time.Sleep(10 * time.Minute)
					}
					objects, _, err := rig.server.List(pods, "")
					require.NoError(t, err)
					for _, obj := range objects {
						rig.sent.update(t, rig.sent.states[obj.GetResourceVersion()].DeepCopy())
					}
					// Twice: the first one asks for the last event again.
					rig.server.Inject(apitest.Fault{Verb: "watch", Times: 2, Action: apitest.Expired()})
					rig.server.DropWatches("")
					deadline := time.Now().Add(time.Hour)
					wrong := rig.wrong(t)
					for ; wrong != "" && time.Now().Before(deadline); wrong = rig.wrong(t) {
						time.Sleep(time.Second)
					}
					require.Empty(t, wrong)
				})
			})
		}
	}
}
