package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/internal/testing/tcpproxy"
)

var dropinFor = flag.Duration("line.for", 20*time.Second, "how long TestDropinUnderFaults disturbs a program of client-go with and without the line")

// One program runs twice, with client-go and with module clientgo instead. Both processes lose the
// server in the same ways at the same times. If the process with client-go has recovered, the other
// process must have recovered too.
func TestDropinUnderFaults(t *testing.T) {
	theirs, ours := startKeeper(t, "client-go"), startKeeper(t, "clientgo", "-modfile=dropin.mod")
	keepers := []*keeper{theirs, ours}
	changes := configMapChurn()
	rounds := 0
	faults := map[string]int{}
	var waited [2]time.Duration // the longest time until a process had the server's state
	for until := time.Now().Add(*dropinFor); rounds == 0 || time.Now().Before(until); rounds++ {
		stop := changes.start(t)
		for range 4 {
			faults[injectKeeperFault(t, keepers)]++
			time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond)
		}
		stop()
		want, err := kube.List(t.Context(), configMapsPath)
		require.NoError(t, err)
		begin := time.Now()
		found := [2]time.Duration{-1, -1}
		eventually(t, 5*time.Minute, func() string {
			wrong := ""
			for i, k := range keepers {
				if found[i] < 0 {
					if w := k.difference(want); w != "" {
						wrong += k.name + ": " + w + "; "
					} else {
						found[i] = time.Since(begin)
					}
				}
			}
			if found[0] >= 0 && found[1] < 0 && time.Since(begin) > found[0]+time.Minute {
				require.Fail(t, "module clientgo did not recover within a minute after client-go", wrong)
			}
			return wrong
		})
		for i := range waited {
			waited[i] = max(waited[i], found[i])
		}
	}
	t.Logf("%d rounds with %v; longest recoveries: client-go %v, clientgo %v", rounds, faults, waited[0].Round(time.Millisecond), waited[1].Round(time.Millisecond))
}

// injectKeeperFault injects one fault for all keepers, and returns its name.
func injectKeeperFault(t *testing.T, keepers []*keeper) string {
	switch n := rand.IntN(40); {
	case n < 10:
		for _, k := range keepers {
			k.proxy.Reset()
		}
		return "lost connections"
	case n < 15 && *dropinFor >= time.Minute:
		// HTTP/2's pings need half a minute to detect a half-open connection.
		for _, k := range keepers {
			k.proxy.Stall()
		}
		return "half-open connections"
	case n < 30:
		_, err := kube.Compact(t.Context())
		require.NoError(t, err)
		return "compactions"
	case n < 33 && *dropinFor >= time.Minute:
		_, err := kube.RotateToken(t.Context())
		require.NoError(t, err)
		return "rotated tokens"
	case n < 35 && *dropinFor >= time.Minute:
		require.NoError(t, kube.KillAPIServer())
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Millisecond)
		require.NoError(t, kube.StartAPIServer(t.Context()))
		return "killed servers"
	}
	return "nothing"
}

// keeper is a cachekeeper that runs as a process, behind its own proxy.
type keeper struct {
	name      string
	proxy     *tcpproxy.Proxy
	commands  io.Writer
	snapshots *bufio.Reader
}

// startKeeper builds a cachekeeper, and starts it.
func startKeeper(t *testing.T, name string, flags ...string) *keeper {
	binary := filepath.Join(t.TempDir(), name)
	args := append(append([]string{"build"}, flags...), "-o", binary, "./cachekeeper")
	built, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, string(built))

	server := strings.TrimPrefix(kube.URL(), "https://")
	k := &keeper{name: name, proxy: tcpproxy.New(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server)
	}, nil)}
	t.Cleanup(k.proxy.Close)
	address, err := k.proxy.Listen()
	require.NoError(t, err)
	process := exec.Command(binary, "-server", "https://"+address, "-ca", kube.CAFile(), "-token", kube.TokenFile(), "-namespace", cluster.Namespace)
	orders, err := process.StdinPipe()
	require.NoError(t, err)
	output, err := process.StdoutPipe()
	require.NoError(t, err)
	var log strings.Builder
	process.Stderr = &log
	require.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = orders.Close()
		err := process.Wait()
		if t.Failed() {
			lines := strings.Split(log.String(), "\n")
			t.Logf("%s ended with %v; its last lines:\n%s", name, err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
		}
	})
	k.commands, k.snapshots = orders, bufio.NewReader(output)
	return k
}

// difference describes how the keeper's store and handler differ from the server.
func (k *keeper) difference(want map[types.NamespacedName]string) string {
	if _, err := fmt.Fprintln(k.commands); err != nil {
		return err.Error()
	}
	line, err := k.snapshots.ReadBytes('\n')
	if err != nil {
		return err.Error()
	}
	var got struct{ Store, Handler map[string]string }
	if err := json.Unmarshal(line, &got); err != nil {
		return err.Error()
	}
	if wrong := difference(want, byKey(got.Store)); wrong != "" {
		return "store: " + wrong
	}
	if wrong := difference(want, byKey(got.Handler)); wrong != "" {
		return "handler: " + wrong
	}
	return ""
}

func byKey(versions map[string]string) map[types.NamespacedName]string {
	keyed := map[types.NamespacedName]string{}
	for key, version := range versions {
		namespace, name, _ := strings.Cut(key, "/")
		keyed[types.NamespacedName{Namespace: namespace, Name: name}] = version
	}
	return keyed
}
