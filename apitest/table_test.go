package apitest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

const asTable = jsonType + ";as=Table;v=v1;g=meta.k8s.io," + jsonType

// rows returns the headings and the cells of a table as text. The headings come first.
func rows(table metav1.Table) []string {
	var lines []string
	if table.ColumnDefinitions != nil {
		var heads []string
		for _, c := range table.ColumnDefinitions {
			heads = append(heads, c.Name)
		}
		lines = append(lines, strings.Join(heads, "|"))
	}
	for _, row := range table.Rows {
		var cells []string
		for _, cell := range row.Cells {
			cells = append(cells, fmt.Sprint(cell))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return lines
}

func tableOf(t *testing.T, c *client, path string) []string {
	t.Helper()
	table := get[metav1.Table](t, c, path, "Accept", asTable)
	require.Equal(t, "Table", table.Kind)
	return rows(table)
}

func TestTableOfPods(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	for name, status := range map[string]string{
		"a-pending":  `{"phase":"Pending"}`,
		"b-running":  `{"phase":"Running","podIPs":[{"ip":"10.0.0.7"}],"containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}}}]}`,
		"c-crashing": `{"phase":"Running","containerStatuses":[{"restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}`,
		"d-done":     `{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}`,
		"e-killed":   `{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":1,"signal":9}}}]}`,
		"f-init":     `{"phase":"Pending","initContainerStatuses":[{"state":{"terminated":{"exitCode":0}}},{"state":{"running":{}}}]}`,
		"g-failing":  `{"phase":"Pending","initContainerStatuses":[{"restartCount":3,"state":{"waiting":{"reason":"ErrImagePull"}}}]}`,
		"h-evicted":  `{"phase":"Failed","reason":"Evicted"}`,
		"i-gated":    `{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}`,
	} {
		c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"`+name+`"},"spec":{"nodeName":"n","containers":[{"name":"c"}],"initContainers":[{"name":"x"},{"name":"y"}]}}`)
		c.do(t, http.StatusOK, "PATCH", podsPath+"/"+name+"/status", `{"status":`+status+`}`, "Content-Type", mergePatch)
	}
	got := tableOf(t, c, podsPath)
	require.Equal(t, "Name|Ready|Status|Restarts|Age|IP|Node|Nominated Node|Readiness Gates", got[0])
	for i, line := range got[1:] {
		cells := strings.Split(line, "|")
		require.Regexp(t, `^\d+s$`, cells[4])
		got[i+1] = strings.Join(cells[:4], "|") + "|" + strings.Join(cells[5:7], "|")
	}
	require.Equal(t, []string{
		"a-pending|0/1|Pending|0|<none>|n",
		"b-running|1/1|Running|2|10.0.0.7|n",
		"c-crashing|0/1|CrashLoopBackOff|7|<none>|n",
		"d-done|0/1|Completed|0|<none>|n",
		"e-killed|0/1|Signal:9|0|<none>|n",
		"f-init|0/1|Init:1/2|0|<none>|n",
		"g-failing|0/1|Init:ErrImagePull|3|<none>|n",
		"h-evicted|0/1|Evicted|0|<none>|n",
		"i-gated|0/1|SchedulingGated|0|<none>|n",
	}, got[1:])

	one := get[metav1.Table](t, c, podsPath+"/b-running?includeObject=Object", "Accept", asTable)
	var pod struct {
		Kind string
		Spec struct{ NodeName string }
	}
	require.NoError(t, json.Unmarshal(one.Rows[0].Object.Raw, &pod))
	require.Equal(t, "Pod n", pod.Kind+" "+pod.Spec.NodeName)
	none := get[metav1.Table](t, c, podsPath+"?includeObject=None&limit=2", "Accept", asTable)
	require.Len(t, none.Rows, 2)
	require.Empty(t, none.Rows[0].Object.Raw)
	require.NotEmpty(t, none.Continue)
	require.Contains(t, string(get[metav1.Table](t, c, podsPath, "Accept", asTable).Rows[0].Object.Raw), `"kind":"PartialObjectMetadata"`)
}

func TestTableOfAWatchHasItsHeadingsOnce(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"a"}}`)
	c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"b"}}`)
	resp := c.send(t, "GET", podsPath+"?watch=1&timeoutSeconds=1", "", "Accept", asTable)
	lines := bufio.NewScanner(resp.Body)
	var heads []int
	for lines.Scan() {
		var event struct {
			Type   string
			Object metav1.Table
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		require.Len(t, event.Object.Rows, 1)
		heads = append(heads, len(event.Object.ColumnDefinitions))
	}
	require.Equal(t, []int{9, 0}, heads)
}

// TestEveryTypeHasATable: the row of an empty object has as many cells as there are headings.
func TestEveryTypeHasATable(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	for _, gv := range []string{"api/v1", "apis/apps/v1", "apis/batch/v1", "apis/autoscaling/v1", "apis/autoscaling/v2", "apis/networking.k8s.io/v1",
		"apis/rbac.authorization.k8s.io/v1", "apis/storage.k8s.io/v1", "apis/certificates.k8s.io/v1", "apis/coordination.k8s.io/v1", "apis/discovery.k8s.io/v1",
		"apis/events.k8s.io/v1", "apis/policy/v1", "apis/scheduling.k8s.io/v1", "apis/node.k8s.io/v1", "apis/resource.k8s.io/v1",
		"apis/admissionregistration.k8s.io/v1", "apis/flowcontrol.apiserver.k8s.io/v1"} {
		for _, r := range get[metav1.APIResourceList](t, c, "/"+gv).APIResources {
			if strings.Contains(r.Name, "/") || len(r.Verbs) < 8 {
				continue
			}
			path := "/" + gv + "/" + r.Name
			if r.Namespaced {
				path = "/" + gv + "/namespaces/a/" + r.Name
			}
			name := "x"
			switch r.Name {
			case "ipaddresses":
				name = "192.0.2.1"
			case "events": // Both APIs of events share the objects.
				name = "x" + strconv.Itoa(len(gv))
			}
			c.do(t, http.StatusCreated, "POST", path, `{"metadata":{"name":"`+name+`"}}`)
			table := get[metav1.Table](t, c, path, "Accept", asTable)
			require.Len(t, table.Rows[0].Cells, len(table.ColumnDefinitions), r.Name)
			require.GreaterOrEqual(t, len(table.ColumnDefinitions), 2, r.Name)
		}
	}
}

func TestTableOfCustomResources(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	c.do(t, http.StatusCreated, "POST", definitionsPath, `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"gadgets.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},"versions":[{"name":"v1","served":true,"storage":true,"additionalPrinterColumns":[
		{"name":"Color","type":"string","jsonPath":".spec.color"},{"name":"Size","type":"integer","jsonPath":".spec.size"},
		{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"},
		{"name":"First","type":"string","jsonPath":".spec.parts[0]","priority":1},{"name":"All","type":"string","jsonPath":".spec.parts"},
		{"name":"Label","type":"string","jsonPath":".metadata.labels.app\\.io/x"},{"name":"Wrong","type":"boolean","jsonPath":".spec.color"},
		{"name":"Bad","type":"string","jsonPath":"spec["},{"name":"Since","type":"date","jsonPath":".spec.since"}]},
		{"name":"v0","served":true,"storage":false}]}}`)
	c.do(t, http.StatusCreated, "POST", gadgetsPath, `{"kind":"Gadget","apiVersion":"example.com/v1","metadata":{"name":"g","labels":{"app.io/x":"y"}},
		"spec":{"color":"red","size":7,"parts":["a","b"],"since":"2020-01-01T00:00:00Z"},"status":{"conditions":[{"type":"Other","status":"False"},{"type":"Ready","status":"True"}]}}`)
	require.Regexp(t, `^g\|red\|7\|True\|a\|\["a","b"\]\|y\|<nil>\|<nil>\|\d+y\d*d?$`, tableOf(t, c, gadgetsPath)[1])
	require.Regexp(t, `^Name\|Age g\|\d+s$`, strings.Join(tableOf(t, c, "/apis/example.com/v0/gadgets"), " "))
	require.Regexp(t, `^Name\|Created At gadgets.example.com\|20`, strings.Join(tableOf(t, c, definitionsPath), " "))
}
