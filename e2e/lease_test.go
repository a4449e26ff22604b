package e2e_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/e2e/cluster"
)

// candidate is the program e2e/candidate as a process.
type candidate struct {
	process *exec.Cmd

	mu          sync.Mutex // guards following
	partialLine []byte
	first, last time.Time // times of its writes
	lines       []string
}

// Write receives the process's output.
func (c *candidate) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partialLine = append(c.partialLine, data...)
	for {
		line, rest, whole := bytes.Cut(c.partialLine, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		c.partialLine = rest
		nanoseconds, writes := strings.CutPrefix(string(line), "writes ")
		if !writes {
			c.lines = append(c.lines, string(line))
			continue
		}
		n, err := strconv.ParseInt(nanoseconds, 10, 64)
		if err != nil {
			return 0, err
		}
		if c.last = time.Unix(0, n); c.first.IsZero() {
			c.first = c.last
		}
	}
}

func (c *candidate) writes() (first, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first, c.last
}

// awaitFirst waits until the candidate leads, and returns the time of its first write.
func (c *candidate) awaitFirst(t *testing.T) (first time.Time) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if first, _ = c.writes(); !first.IsZero() {
			return first
		}
	}
	require.Fail(t, "the candidate does not lead", "its output: %q", c.lines)
	return first
}

// TestLease runs a leader and another candidate as processes, with kinform or with client-go. The
// test sends the leader a signal that asks it to end, kills it, or suspends it for some time. The
// other candidate must take over, and its first write must follow the leader's last write.
func TestLease(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "candidate")
	built, err := exec.Command("go", "build", "-o", binary, "./candidate").CombinedOutput()
	require.NoError(t, err, string(built))
	const clientGo = "client-go"
	for _, test := range []struct {
		leader, other string
		end           syscall.Signal
		// least and most bound the time until the other candidate leads. A leader renews the lease
		// of 6 s within 4 s, and releases it when it is asked to end.
		least, most time.Duration
	}{
		{"kinform", "kinform", syscall.SIGTERM, 0, 4 * time.Second},
		{"kinform", "kinform", syscall.SIGKILL, 2 * time.Second, 30 * time.Second},
		{"kinform", "kinform", syscall.SIGSTOP, 2 * time.Second, 30 * time.Second},
		{"kinform", clientGo, syscall.SIGTERM, 0, 4 * time.Second},
		{"kinform", clientGo, syscall.SIGKILL, 2 * time.Second, 30 * time.Second},
		{"kinform", clientGo, syscall.SIGSTOP, 2 * time.Second, 30 * time.Second},
		{clientGo, "kinform", syscall.SIGTERM, 0, 4 * time.Second},
		{clientGo, "kinform", syscall.SIGKILL, 2 * time.Second, 30 * time.Second},
	} {
		signal := map[syscall.Signal]string{syscall.SIGTERM: "term", syscall.SIGKILL: "kill", syscall.SIGSTOP: "stop"}[test.end]
		name := fmt.Sprintf("%s-%s-%s", test.leader, test.other, signal)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := func(identity, library string) *candidate {
				c := &candidate{process: exec.Command(binary, "-kubeconfig", kube.KubeconfigFile(), "-namespace", cluster.Namespace,
					"-lease", name, "-identity", identity, "-client-go="+strconv.FormatBool(library == clientGo))}
				c.process.Stdout, c.process.Stderr = c, c
				require.NoError(t, c.process.Start())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = c.process.Wait()
				}()
				t.Cleanup(func() {
					_ = c.process.Process.Kill()
					<-ended
					if t.Failed() {
						t.Logf("output of %s: %q", identity, c.lines)
					}
				})
				return c
			}
			leader := start("leader", test.leader)
			leader.awaitFirst(t)
			other := start("other", test.other)
			time.Sleep(5 * time.Second) // The other candidate sees some renewals in this time.
			ended := time.Now()
			require.NoError(t, leader.process.Process.Signal(test.end))
			first := other.awaitFirst(t)
			if test.end == syscall.SIGSTOP {
				require.NoError(t, leader.process.Process.Signal(syscall.SIGCONT))
				time.Sleep(time.Second) // The old leader resumes as if it had not been suspended.
			}
			_, last := leader.writes()
			require.True(t, last.Before(first), "the leader still wrote at %v, but the other wrote from %v on", last, first)
			took := first.Sub(ended)
			t.Logf("the other leads after %v", took.Round(time.Millisecond))
			require.GreaterOrEqual(t, took, test.least)
			require.Less(t, took, test.most)
		})
	}
}
