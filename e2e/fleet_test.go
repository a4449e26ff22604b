package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

var (
	fleetFor  = flag.Duration("fleet.for", time.Minute, "how long TestFleetUnderFaults injects faults into two replicas of examples/fleet")
	fleetLoad = flag.String("fleet.load", "-objects 200 -rate 20 -steady 2s -lease 9s", "flags of the load test that TestFleetLoad runs")
)

const (
	fleetUser       = "fleet" // the name of the user, and of the role in robot.yaml
	fleetRobots     = 100
	fleetWorkers    = 4
	fleetFolder     = "../examples/fleet"
	robotDefinition = "robots.example.com"
	flowSchemas     = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
	flowLevels      = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
	fleetPatience   = 3 * time.Minute
)

// robot has the fields of a Robot that the test reads.
type robot struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Order int64  `json:"order"`
		Shelf string `json:"shelf"`
	} `json:"spec"`
	Status struct {
		Order  int64  `json:"order"`
		Leader string `json:"leader"`
		Term   int32  `json:"term"`
	} `json:"status,omitzero"`
}

// fleet runs two replicas on a real server, while the test injects faults.
type fleet struct {
	t      *testing.T
	binary string
	config string // the path of the kubeconfig
	robots *rest.Resource[*robot]
	routes *rest.Resource[*corev1.ConfigMap]

	mu       sync.Mutex // guards following
	replicas []*member
	started  int
	counts   map[string]int // number of faults and of their results
	writes   []fleetWrite
	wrong    []string
	terms    map[types.NamespacedName]int32
	leaders  map[int32]string
	last     string // the replica that wrote last
}

// fleetWrite is a status that a replica wrote.
type fleetWrite struct {
	version uint64
	term    int32
	leader  string
}

// member is one replica, which runs as a process.
type member struct {
	name    string
	process *exec.Cmd
	ended   chan struct{}
	output  lines
	signal  syscall.Signal // the signal that ended the replica; guarded by the fleet's mu
}

func (f *fleet) count(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[what]++
}

// start starts a replica. If the replica exits during the test, start starts another one, like a
// cluster.
func (f *fleet) start(ctx context.Context, running *sync.WaitGroup) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return // The test is ending all replicas.
	}
	m := &member{name: fmt.Sprintf("replica-%d", f.started), ended: make(chan struct{})}
	f.started++
	m.process = exec.Command(f.binary, "replica", "-attached", "-watch", "-identity", m.name, "-namespace", cluster.Namespace, "-lease", "6s", "-workers", strconv.Itoa(fleetWorkers))
	m.process.Env = append(os.Environ(), "KUBECONFIG="+f.config)
	m.process.Stdout, m.process.Stderr = &m.output, &m.output
	// The pipe closes when this process ends, and the replica then exits.
	_, err := m.process.StdinPipe()
	if err == nil {
		err = m.process.Start()
	}
	if err != nil {
		f.wrong = append(f.wrong, err.Error())
		return
	}
	f.replicas = append(f.replicas, m)
	running.Go(func() {
		err := m.process.Wait()
		f.ended(m, err)
		close(m.ended)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
			f.start(ctx, running)
		}
	})
}

// ended records why a replica has exited. An unknown reason fails the test.
func (f *fleet) ended(m *member, err error) {
	said := m.output.String()
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.Contains(said, "too many requests") {
		f.counts["replicas that said they had a 429"]++
	}
	f.replicas = slices.DeleteFunc(f.replicas, func(other *member) bool { return other == m })
	switch {
	case strings.Contains(said, "panic"):
		f.wrong = append(f.wrong, m.name+": "+said)
	case m.signal == syscall.SIGKILL:
	case strings.Contains(said, "no longer leads"):
		f.counts["leases lost"]++
	case err != nil || m.signal == 0:
		f.wrong = append(f.wrong, fmt.Sprintf("%s ended after signal %v: %v: %s", m.name, m.signal, err, said))
	}
}

// leader returns the replica that wrote a status last, or nil if that replica no longer runs.
func (f *fleet) leader() *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.replicas {
		if m.name == f.last {
			return m
		}
	}
	return nil
}

// signalReplica sends a replica a signal that ends it.
func (f *fleet) signalReplica(m *member, signal syscall.Signal) {
	f.mu.Lock()
	m.signal = signal
	f.mu.Unlock()
	_ = m.process.Process.Signal(signal)
}

// handle is a handler. It receives every status that a replica writes.
func (f *fleet) handle(e informer.Event[*robot]) {
	now := e.New.Status
	if now.Order == 0 || e.Old != nil && e.Old.Status == now {
		return
	}
	version, err := strconv.ParseUint(e.ResourceVersion, 10, 64)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.wrong = append(f.wrong, err.Error())
	}
	if now.Term < f.terms[e.Key] {
		f.wrong = append(f.wrong, fmt.Sprintf("%s was written in term %d by %s, after term %d", e.Key, now.Term, now.Leader, f.terms[e.Key]))
	}
	f.terms[e.Key] = now.Term
	if other, known := f.leaders[now.Term]; known && other != now.Leader {
		f.wrong = append(f.wrong, fmt.Sprintf("term %d is of %s and of %s", now.Term, other, now.Leader))
	}
	f.leaders[now.Term], f.last = now.Leader, now.Leader
	// A user may have changed an object in a list since a replica wrote it. Then the version of the
	// object is not the version of the replica's write. Therefore only events of a watch count.
	if e.Cause == informer.Watch {
		f.writes = append(f.writes, fleetWrite{version, now.Term, now.Leader})
	}
}

// lateWrites returns the number of late writes. A write is late if its term is earlier than the
// term of a write that the server accepted before it.
func (f *fleet) lateWrites() (lateWrites int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortFunc(f.writes, func(a, b fleetWrite) int { return int(a.version) - int(b.version) })
	newest := int32(0)
	for _, w := range f.writes {
		if w.term < newest {
			lateWrites++
		}
		newest = max(newest, w.term)
	}
	return lateWrites
}

// installFleet creates the CustomResourceDefinition of robots, and gives replicas only the
// permissions in robot.yaml.
func installFleet(t *testing.T) *fleet {
	dir := t.TempDir()
	f := &fleet{t: t, binary: filepath.Join(dir, "fleet"), config: filepath.Join(dir, "kubeconfig"),
		counts: map[string]int{}, terms: map[types.NamespacedName]int32{}, leaders: map[int32]string{}}
	buildExample(t, "fleet", f.binary)
	writeKubeconfigOf(t, fleetUser, f.config)
	t.Cleanup(func() {
		// The server keeps a deleted CustomResourceDefinition until all its objects are deleted.
		eventually(t, fleetPatience, func() string {
			if _, err := kube.Get(context.Background(), definitionsPath+"/"+robotDefinition); err == nil || !strings.Contains(err.Error(), "404") {
				return fmt.Sprintf("the definition of robots is not gone: %v", err)
			}
			return ""
		})
	})
	installManifest(t, filepath.Join(fleetFolder, "robot.yaml"), robotDefinition, fleetUser)
	client := newClient(t, kube.Config())
	gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "robots"}
	f.robots = rest.Must(rest.For[*robot](client, rest.ResourceOptions{Resource: gvr, Kind: "Robot", Namespace: cluster.Namespace}))
	f.routes = rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{Namespace: cluster.Namespace, LabelSelector: "example.com/fleet"}))
	eventually(t, fleetPatience, func() string {
		// The server needs some time until it serves robots.
		if _, err := allOf(t.Context(), f.robots); err != nil {
			return err.Error()
		}
		return ""
	})
	t.Cleanup(func() { // No garbage collector runs here.
		require.NoError(t, f.routes.DeleteCollection(context.Background(), cluster.Namespace, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "example.com/fleet"}))
	})
	return f
}

func robotName(n int) string { return fmt.Sprintf("robot-%03d", n) }

// sendOrders sends orders to the robots until ctx ends. If an order fails, the same robot's next
// order replaces it.
func (f *fleet) sendOrders(ctx context.Context) {
	for order := int64(2); ctx.Err() == nil; order++ {
		key := types.NamespacedName{Namespace: cluster.Namespace, Name: robotName(int(order) % fleetRobots)}
		patching, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err := f.robots.Patch(patching, key, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"order":%d}}`, order), metav1.PatchOptions{})
		cancel()
		if err == nil {
			f.count("orders")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// injectFault injects the fault with the given number, and removes it again.
func (f *fleet) injectFault(n int) error {
	ctx := context.Background()
	leader := f.leader()
	switch {
	case n == 0:
		f.count("API server killed")
		if err := kube.KillAPIServer(); err != nil {
			return err
		}
		time.Sleep(rand.N(5 * time.Second))
		return kube.StartAPIServer(ctx)
	case n == 1:
		f.count("429 for all replicas")
		if err := errors.Join(
			kube.Create(ctx, flowLevels, json.RawMessage(`{"metadata": {"name": "fleet-none"}, "spec": {"type": "Limited",
				"limited": {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}}}}`)),
			kube.Create(ctx, flowSchemas, json.RawMessage(`{"metadata": {"name": "fleet-none"}, "spec": {"matchingPrecedence": 2,
				"priorityLevelConfiguration": {"name": "fleet-none"}, "rules": [{"subjects": [{"kind": "User", "user": {"name": "`+fleetUser+`"}}],
				"resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": true}]}]}}`)),
		); err != nil {
			return err
		}
		time.Sleep(2*time.Second + rand.N(8*time.Second))
		return errors.Join(kube.Delete(ctx, flowSchemas+"/fleet-none"), kube.Delete(ctx, flowLevels+"/fleet-none"))
	case leader == nil:
		return nil
	case n == 2:
		f.count("leader killed")
		f.signalReplica(leader, syscall.SIGKILL)
	case n == 3:
		f.count("leader ended")
		f.signalReplica(leader, syscall.SIGTERM)
	default:
		f.count("leader stopped for a while")
		_ = leader.process.Process.Signal(syscall.SIGSTOP)
		time.Sleep(rand.N(12 * time.Second))
		_ = leader.process.Process.Signal(syscall.SIGCONT)
	}
	return nil
}

// allOf returns all objects of a resource.
func allOf[T any](ctx context.Context, resource *rest.Resource[T]) (map[types.NamespacedName]T, error) {
	items, err := listwatch.Collect(resource.List(ctx, listwatch.ListOptions{}))
	all := map[types.NamespacedName]T{}
	for _, item := range items {
		all[item.Key] = item.Object
	}
	return all, err
}

// describePending describes the robots that do not have their last order yet.
func (f *fleet) describePending() string {
	robots, err := allOf(f.t.Context(), f.robots)
	if err != nil {
		return err.Error()
	}
	routes, err := allOf(f.t.Context(), f.routes)
	if err != nil {
		return err.Error()
	}
	if len(robots) != fleetRobots || len(routes) != fleetRobots {
		return fmt.Sprintf("there are %d robots and %d routes", len(robots), len(routes))
	}
	for key, robot := range robots {
		if route := routes[key]; robot.Status.Order != robot.Spec.Order || route == nil || route.Data["order"] != fmt.Sprint(robot.Spec.Order) {
			return fmt.Sprintf("%s: order %d, status of %d, route %v", key, robot.Spec.Order, robot.Status.Order, route)
		}
	}
	return ""
}

// TestFleetLoad runs the load test of examples/fleet on a real server. The load is small, unless a
// flag sets a larger one.
func TestFleetLoad(t *testing.T) {
	f := installFleet(t)
	// The load test creates robots, for which replicas have no permission.
	admin := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, kubeconfig.Write(admin, kubeconfig.Connection{Config: kube.Config()}))
	args := append([]string{"-kubeconfig", admin, "-namespace", cluster.Namespace}, strings.Fields(*fleetLoad)...)
	test := exec.CommandContext(t.Context(), f.binary, args...)
	var said bytes.Buffer
	test.Stderr = &said
	table, err := test.Output()
	require.NoError(t, err, said.String())
	t.Logf("\n%s", table)
	require.Regexp(t, `\| statuses of an earlier leader after a later one's +\| 0 `, string(table))
}

// TestFleetUnderFaults runs two replicas of examples/fleet that share a lease, with continuous
// orders. The test kills the API server, or makes it refuse everything with 429. The test also
// suspends, kills or ends the leader. No term may have two leaders, and no object may go back to an
// earlier term. In the end, every robot must have its last order.
func TestFleetUnderFaults(t *testing.T) {
	f := installFleet(t)
	for n := range fleetRobots {
		first := &robot{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Robot"}, ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: robotName(n)}}
		first.Spec.Order, first.Spec.Shelf = 1, "shelf"
		_, err := f.robots.Create(t.Context(), first, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	seen, err := informer.New(f.robots, informer.Options[*robot]{Name: "witness"})
	require.NoError(t, err)
	_, err = seen.AddHandler(f.handle, informer.HandlerOptions{Overflow: informer.Unbounded})
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	var running, watching sync.WaitGroup
	watched, endWatch := context.WithCancel(t.Context())
	watching.Go(func() { _ = seen.Run(watched) })
	end := sync.OnceFunc(func() { // The replicas must also end if the test fails.
		cancel()
		f.mu.Lock()
		left := slices.Clone(f.replicas)
		f.mu.Unlock()
		for _, m := range left {
			f.signalReplica(m, syscall.SIGTERM)
			select {
			case <-m.ended:
			case <-time.After(time.Minute):
				t.Errorf("replica %s does not end: %s", m.name, m.output.String())
				_ = m.process.Process.Kill()
			}
		}
		running.Wait()
		endWatch()
		watching.Wait()
	})
	defer end()
	for range 2 {
		f.start(ctx, &running)
	}
	ordering, endOrders := context.WithCancel(ctx)
	var orders sync.WaitGroup
	orders.Go(func() { f.sendOrders(ordering) })
	defer orders.Wait()
	defer endOrders()

	eventually(t, fleetPatience, f.describePendingBeforeFaults)
	f.mu.Lock()
	both := slices.Clone(f.replicas)
	f.mu.Unlock()
	for _, m := range both {
		require.NotContains(t, m.output.String(), "forbidden", "robot.yaml must give all permissions, including the permission to watch the Lease")
	}
	for n, until := 0, time.Now().Add(*fleetFor); time.Now().Before(until); n++ {
		kind := n
		if n > 4 { // Each fault is injected once, and then faults are random.
			kind = rand.IntN(7)
		}
		require.NoError(t, f.injectFault(kind))
		time.Sleep(rand.N(6 * time.Second))
		f.mu.Lock()
		wrong := slices.Clone(f.wrong)
		f.mu.Unlock()
		require.Empty(t, wrong)
	}
	endOrders()
	orders.Wait()
	eventually(t, fleetPatience, f.describePending)
	end()
	require.Empty(t, f.wrong)
	late := f.lateWrites()
	t.Logf("%v; %d terms; %d statuses seen one by one, of which %d came after a status of a later term", f.counts, len(f.leaders), len(f.writes), late)
	// A suspended process may still send some requests after it resumes. Its workers had checked
	// the lease for these requests, and had not yet written them to the socket. The server accepts
	// such a request only if no other process has written the same robot.
	require.LessOrEqual(t, late, fleetWorkers*f.counts["leader stopped for a while"])
}

// describePendingBeforeFaults describes what is missing before the faults begin. This shows that
// the replicas work.
func (f *fleet) describePendingBeforeFaults() string {
	if f.leader() == nil {
		return "no replica has written a status"
	}
	return ""
}
