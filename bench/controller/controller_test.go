package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		// the driver starts this test binary as the server
		if err := serve(os.Args[2:], os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func TestEveryRowIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("links two programs and runs them")
	}
	var out strings.Builder
	set := settings{objects: 20, runs: 1, takeovers: 1, rate: 50, workers: []int{2}, steady: time.Second, profiles: t.TempDir()}
	require.NoError(t, run(t.Context(), set, &out))
	for _, r := range rows {
		require.Contains(t, out.String(), "\n"+r.phase+": "+r.name)
	}
	require.Regexp(t, `lines by hand +[1-9]\d+ +[1-9]\d+ +\d`, out.String())
	require.Regexp(t, `all are new: create configmaps +20 +20 +20\n`, out.String())
	require.NotContains(t, out.String(), "NaN")
	require.NotContains(t, out.String(), "Inf")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 170)
	}
	profiles, err := os.ReadDir(set.profiles)
	require.NoError(t, err)
	require.NotEmpty(t, profiles)
}

func TestRequestsAreCountedByKindAndResult(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ method, path, want string }{
		{"GET", "/api", "get discovery"},
		{"GET", "/apis/bench.example.com/v1", "get discovery"},
		{"GET", "/api/v1/configmaps", "list configmaps"},
		{"GET", "/api/v1/configmaps?watch=1", "watch configmaps"},
		{"GET", "/apis/bench.example.com/v1/widgets?watch=true", "watch widgets"},
		{"POST", configMaps, "create configmaps"},
		{"PUT", configMaps + "/widget-00001", "update configmaps"},
		{"PATCH", widgets + "/widget-00001", "patch widgets"},
		{"PUT", widgets + "/widget-00001/status", "update widgets/status"},
		{"GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/widgets", "get leases"},
	} {
		asked := parse(httptest.NewRequest(test.method, test.path, nil))
		require.Equal(t, test.want, asked.verb+" "+asked.resource, test.path)
	}
	require.Equal(t, "widget-00001", parse(httptest.NewRequest("PUT", widgets+"/widget-00001/status", nil)).name)
}

func TestAChangeIsDoneWhenTheStatusIsWritten(t *testing.T) {
	t.Parallel()
	code := http.StatusOK
	g := newCountingProxy(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	send := func(agent, method, path string) {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("User-Agent", agent)
		g.ServeHTTP(httptest.NewRecorder(), r)
	}
	const one, status = widgets + "/widget-00001", widgets + "/widget-00001/status"
	send(loadAgent, "PATCH", one)
	require.Len(t, g.changed, 1)
	code = http.StatusConflict
	send("side", "PUT", status)
	require.Len(t, g.changed, 1, "a widget stays pending if the server refuses its status")
	code = http.StatusOK
	send("side", "PUT", status)
	require.Empty(t, g.changed)
	require.Len(t, g.counts.Took, 1)
	require.Equal(t, map[string]int{"update widgets/status: 409": 1, "update widgets/status": 1}, g.counts.Requests["side"])
	require.Contains(t, g.counts.Statuses, "side")
}

func TestARealServerIsBehindTheSameProxy(t *testing.T) {
	t.Parallel()
	real, address, err := settings{}.startServer()
	require.NoError(t, err)
	defer func() { require.NoError(t, real.kill()) }()
	set := settings{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	require.NoError(t, kubeconfig.Write(set.kubeconfig, kubeconfig.Connection{Config: rest.Config{Host: address}}))
	server, address, err := set.startServer()
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()

	for range 2 { // the second round deletes the objects of the first
		l := newLoad(address, 3)
		defer l.close()
		require.NoError(t, l.create(t.Context()))
		p, err := l.requestCounts(t.Context(), reportPath)
		require.NoError(t, err)
		require.Equal(t, 3, p.Pending)
		require.Error(t, l.check(t.Context()), "check must fail while no widget has a ConfigMap")
	}

	// A watch sends events while it is open.
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+widgets+"?watch=true&resourceVersion=0", nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, `"ADDED"`)
}

func TestOnlyHandWrittenLinesAreCounted(t *testing.T) {
	t.Parallel()
	require.Equal(t, 3, lines(`// Package main is one.
package main

import (
	"fmt"
)

import "os"

// main does it.
func main() {
	probe.Attach()

	fmt.Println(os.Args) // all of them
}
`))
}

func TestTargetsApplyToTheMedianRatio(t *testing.T) {
	t.Parallel()
	r := results{}
	for n, value := range []float64{50, 70, 10} {
		r.add(paced, "change to status, p99", theirs, 100)
		r.add(paced, "change to status, p99", ours, value)
		r.add(paced, "409 (conflicts, repeated creates)", theirs, 3)
		r.add(paced, "409 (conflicts, repeated creates)", ours, float64(n/2))
	}
	require.Regexp(t, `p99 .* 0\.50 +0\.10-0\.70 +<= 0\.70 +met\n`, r.table("").String())
	require.Regexp(t, `409 \(conflicts, repeated creates\) +3 +0 +0 +missed\n`, r.table("").String(), "a conflict in one run misses the target")
}
