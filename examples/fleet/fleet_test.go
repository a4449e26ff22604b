package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if binary.file != "" {
			_ = os.RemoveAll(filepath.Dir(binary.file))
		}
		os.Exit(code)
	}))
}

// binary is the program, which is built only once.
var binary struct {
	once sync.Once
	file string
	err  error
}

// member is a replica inside a bubble.
type member struct {
	out  *log
	stop func() error
}

// log can be written by several goroutines.
type log struct {
	mu   sync.Mutex // guards following
	text bytes.Buffer
}

func (l *log) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func start(t *testing.T, config rest.Config, identity string, output *log) *member {
	t.Helper()
	client, err := rest.NewClient(config, rest.Options{Limit: lease.Check})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	m := &member{out: &log{}}
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, client, settings{
			identity: identity, lease: types.NamespacedName{Namespace: "default", Name: "fleet"}, duration: 15 * time.Second,
			watch: true, workers: 4, logger: slog.New(slog.NewTextHandler(output, &slog.HandlerOptions{Level: slog.LevelWarn})), out: m.out,
		})
		client.Close()
	}()
	m.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = m.stop() })
	return m
}

func TestOneReplicaWorksAndTheOtherTakesOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(apitest.Options{})
		t.Cleanup(server.Close)
		require.NoError(t, server.ListenMemory())
		config := rest.Config{Host: server.URL(), DialContext: server.DialContext}
		client, err := rest.NewClient(config, rest.Options{})
		require.NoError(t, err)
		t.Cleanup(client.Close)
		require.NoError(t, define(t.Context(), client))
		l := &load{
			watcher: newWatcher(), namespace: "default", objects: 40, clients: 4,
			robots: rest.Must(rest.For[*Robot](client, rest.ResourceOptions{Resource: robots, Kind: robotKind.Kind})),
			routes: rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{})),
		}
		var said log
		first := start(t, config, "first", &said)
		time.Sleep(time.Second)
		require.Equal(t, "ready\nleading\n", first.out.String())
		second := start(t, config, "second", &said)
		require.NoError(t, l.forEachRobot(l.create)(t.Context()))
		time.Sleep(time.Second)
		require.NoError(t, l.checkRobots(t.Context()))
		require.Equal(t, "ready\n", second.out.String())

		// A user changes a route, and deletes another.
		object, err := server.Get(corev1.SchemeGroupVersion.WithResource("configmaps"), types.NamespacedName{Namespace: "default", Name: robotName(7)})
		require.NoError(t, err)
		object.(*corev1.ConfigMap).Data["shelf"] = "another"
		_, err = server.Update(object)
		require.NoError(t, err)
		require.NoError(t, l.routes.Delete(t.Context(), types.NamespacedName{Namespace: "default", Name: robotName(8)}, metav1.DeleteOptions{}))
		time.Sleep(time.Second)
		require.NoError(t, l.checkRobots(t.Context()))

		require.NoError(t, first.stop())
		require.NoError(t, l.forEachRobot(l.change)(t.Context()))
		time.Sleep(time.Second)
		require.NoError(t, l.checkRobots(t.Context()))
		require.Contains(t, second.out.String(), "leading\n")
		all, err := list(t.Context(), l.robots)
		require.NoError(t, err)
		for _, robot := range all {
			require.Equal(t, RobotStatus{Order: robot.Spec.Order, Leader: "second", Term: 1}, robot.Status)
		}
		require.NoError(t, second.stop())
		require.Contains(t, second.out.String(), "failures=0 events=1 dropped=0\n")
		require.Empty(t, said.String(), "there must be no conflict, and no repeated write")

		var recorded []string
		objects, _, err := server.List(eventsv1.SchemeGroupVersion.WithResource("events"), "default")
		require.NoError(t, err)
		for _, object := range objects {
			event := object.(*eventsv1.Event)
			recorded = append(recorded, event.Regarding.Kind+" "+event.Regarding.Name+" "+event.Reason)
		}
		require.ElementsMatch(t, []string{"Lease fleet Leading", "Robot robot-00007 RouteChanged", "Lease fleet Leading"}, recorded)
	})
}

// build builds the program and returns its path.
func build(t *testing.T) string {
	t.Helper()
	binary.once.Do(func() {
		dir, err := os.MkdirTemp("", "fleet-test-")
		if err != nil {
			binary.err = err
			return
		}
		binary.file = filepath.Join(dir, "fleet")
		if said, err := exec.Command("go", "build", "-o", binary.file, ".").CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("%w: %s", err, said)
		}
	})
	require.NoError(t, binary.err)
	return binary.file
}

// The test runs the whole load test at a small size, with real processes, and kills one of them.
func TestLoadTest(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "it builds and starts four processes")
	var output, errors log
	test := exec.CommandContext(t.Context(), build(t), "-objects", "60", "-rate", "20", "-steady", "1s", "-lease", "9s")
	test.Stdout, test.Stderr = &output, &errors
	require.NoError(t, test.Run(), errors.String())
	said := output.String()
	for _, phase := range []string{"create", "change, all at once"} {
		require.Regexp(t, `\| `+phase+` +\| 60 `, said)
	}
	for _, phase := range []string{"change, at an even pace", "the leader gets SIGTERM", "the leader gets SIGKILL"} {
		require.Contains(t, said, "| "+phase)
	}
	for _, none := range []string{"events that were dropped", "statuses of an earlier leader after a later one's"} {
		require.Regexp(t, `\| `+regexp.QuoteMeta(none)+` +\| 0 `, said)
	}
	killed := regexp.MustCompile(`\| the other works after SIGKILL +\| (\S+) `).FindStringSubmatch(said)
	require.NotNil(t, killed, said)
	took, err := time.ParseDuration(killed[1])
	require.NoError(t, err)
	require.Greater(t, took, 3*time.Second, "no replica may take over before the lease has expired, which the leader has renewed recently")
}

// If the load test gets SIGTERM or SIGKILL, all of its processes end.
func TestAnInterruptedLoadTestLeavesNoProcesses(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "it starts eight processes")
	program := build(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		var errors log
		test := exec.Command(program, "-objects", "50", "-rate", "20", "-steady", "1h")
		test.Stderr = &errors
		require.NoError(t, test.Start())
		require.Eventually(t, func() bool { return strings.Contains(errors.String(), "orders per second") }, time.Minute, 50*time.Millisecond)
		children := childrenOf(t, test.Process.Pid)
		require.NoError(t, test.Process.Signal(signal))
		require.Error(t, test.Wait(), "an interrupted load test must report an error")
		if signal == syscall.SIGTERM {
			for _, child := range children {
				require.False(t, isRunning(child), "process %d is left; %s", child, &errors)
			}
		}
		for _, child := range children {
			require.Eventually(t, func() bool { return !isRunning(child) }, time.Minute, 50*time.Millisecond)
		}
		require.NotContains(t, errors.String(), "ended by itself")
	}
}

// childrenOf returns the child processes of a process. It needs /proc.
func childrenOf(t *testing.T, pid int) (children []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		// The line is "pid (name) state parent ...", and the name may contain spaces.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if parent, _ := strconv.Atoi(fields[1]); parent == pid {
			child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			require.NoError(t, err)
			children = append(children, child)
		}
	}
	if len(files) > 0 {
		require.Len(t, children, 3, "there must be a server and two replicas")
	}
	return children
}

// isRunning reports whether a process exists and is not a zombie.
func isRunning(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}
