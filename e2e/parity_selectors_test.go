package e2e_test

import (
	"net/url"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
)

// selectorCases lists, for each type, fields with a value. Some of these fields can select objects
// of the type, and some cannot.
var selectorCases = []struct{ path, fields string }{
	{"/api/v1/namespaces/{ns}/pods", `spec.nodeName=n spec.restartPolicy=Never spec.restartPolicy=Always spec.schedulerName=s spec.schedulerName=default-scheduler
		spec.serviceAccountName=a spec.hostNetwork=true spec.hostNetwork=false status.phase=Running status.phase=Pending status.podIP=10.0.0.1 status.podIPs=10.0.0.1 status.nominatedNodeName=m
		spec.host=n status.hostIP=x spec.containers=c status.qosClass=x`},
	{"/api/v1/nodes", `spec.unschedulable=true spec.unschedulable=false spec.podCIDR=x`},
	{"/api/v1/namespaces", `status.phase=Active status.phase=Terminating name={ns} spec.finalizers=x`},
	{"/api/v1/namespaces/{ns}/configmaps", `immutable=true data=x`},
	{"/api/v1/namespaces/{ns}/secrets", `type=Opaque type=example.com/t data=x`},
	{"/api/v1/namespaces/{ns}/services", `spec.clusterIP=None spec.type=ClusterIP spec.type=ExternalName spec.x=y`},
	{"/api/v1/namespaces/{ns}/replicationcontrollers", `status.replicas=0 status.replicas=1 spec.replicas=1`},
	{"/api/v1/namespaces/{ns}/persistentvolumeclaims", `name=x status.phase=Bound`},
	{"/api/v1/persistentvolumes", `name=x`},
	{"/api/v1/namespaces/{ns}/events", `involvedObject.kind=Pod involvedObject.namespace={ns} involvedObject.name=p involvedObject.uid=u involvedObject.apiVersion=v1
		involvedObject.resourceVersion=1 involvedObject.fieldPath=f reason=r reportingComponent=example.com/c source=example.com/c type=Normal type=Warning
		regarding.kind=Pod reportingController=x`},
	{"/apis/events.k8s.io/v1/namespaces/{ns}/events", `regarding.kind=Pod regarding.namespace={ns} regarding.name=p regarding.uid=u regarding.apiVersion=v1
		regarding.resourceVersion=1 regarding.fieldPath=f reason=r reportingController=example.com/c type=Normal
		involvedObject.kind=Pod reportingComponent=x source=x`},
	{"/apis/apps/v1/namespaces/{ns}/replicasets", `status.replicas=0 status.replicas=2 spec.replicas=1`},
	{"/apis/apps/v1/namespaces/{ns}/deployments", `status.replicas=0 status.successful=x`},
	{"/apis/apps/v1/namespaces/{ns}/statefulsets", `status.successful=x`},
	{"/apis/batch/v1/namespaces/{ns}/jobs", `status.successful=0 status.successful=1 status.failed=0`},
	{"/apis/batch/v1/namespaces/{ns}/cronjobs", `status.successful=0`},
	{"/apis/certificates.k8s.io/v1/certificatesigningrequests", `spec.signerName=example.com/s spec.username=x`},
	{"/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", `spec.holderIdentity=x`},
	{"/apis/resource.k8s.io/v1/resourceslices", `spec.nodeName=n spec.driver=d spec.pool=p`},
	{"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", `rules=x`},
	{"/apis/parity.example.com/v1/namespaces/{ns}/painted", `spec.color=red spec.color=blue spec.deep.size=3 spec.deep.done=true spec.other=x`},
}

func TestParityFieldSelectors(t *testing.T) {
	made := []parityRequest{
		{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", paintedDefinition, ""},
		{"POST", podsAt, `{"metadata":{"name":"a"},"spec":{"nodeName":"n","restartPolicy":"Never","schedulerName":"s","serviceAccountName":"a","hostNetwork":true,"containers":[{"name":"c","image":"example.com/c"}]}}`, ""},
		{"PATCH", podsAt + "/a/status", `{"status":{"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}]}}`, ""},
		{"POST", podsAt, `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`, ""},
		{"PATCH", podsAt + "/b/status", `{"status":{"nominatedNodeName":"m"}}`, ""},
		{"POST", "/api/v1/namespaces/{ns}/configmaps", `{"metadata":{"name":"a"}}`, ""},
		{"POST", "/api/v1/namespaces/{ns}/secrets", `{"metadata":{"name":"a"}}`, ""},
		{"POST", "/api/v1/namespaces/{ns}/secrets", `{"metadata":{"name":"b"},"type":"example.com/t"}`, ""},
		{"POST", "/api/v1/namespaces/{ns}/services", `{"metadata":{"name":"a"},"spec":{"clusterIP":"None","selector":{"a":"b"}}}`, ""},
		{"POST", "/api/v1/namespaces/{ns}/services", `{"metadata":{"name":"b"},"spec":{"type":"ExternalName","externalName":"example.com"}}`, ""},
		{"POST", "/apis/apps/v1/namespaces/{ns}/replicasets", `{"metadata":{"name":"a"},` + workload + `}`, ""},
		{"PATCH", "/apis/apps/v1/namespaces/{ns}/replicasets/a/status", `{"status":{"replicas":2}}`, ""},
		{"POST", "/apis/apps/v1/namespaces/{ns}/replicasets", `{"metadata":{"name":"b"},` + workload + `}`, ""},
		{"POST", "/apis/batch/v1/namespaces/{ns}/jobs", `{"metadata":{"name":"a"},"spec":` + jobSpec + `}`, ""},
		{"POST", "/api/v1/namespaces/{ns}/events", `{"metadata":{"name":"a"},"involvedObject":{"kind":"Pod","namespace":"{ns}","name":"p","uid":"u","apiVersion":"v1","resourceVersion":"1","fieldPath":"f"},"reason":"r","source":{"component":"example.com/c"},"type":"Normal"}`, ""},
		{"POST", "/apis/events.k8s.io/v1/namespaces/{ns}/events", `{"metadata":{"name":"b"},"eventTime":"2026-01-01T00:00:00.000000Z","type":"Normal","reason":"r","action":"a","reportingController":"example.com/c","reportingInstance":"i","regarding":{"kind":"Pod","namespace":"{ns}","name":"p"}}`, ""},
		{"POST", "/apis/parity.example.com/v1/namespaces/{ns}/painted", `{"apiVersion":"parity.example.com/v1","kind":"Painted","metadata":{"name":"a"},"spec":{"color":"red","deep":{"size":3,"done":true}}}`, ""},
		{"POST", "/apis/parity.example.com/v1/namespaces/{ns}/painted", `{"apiVersion":"parity.example.com/v1","kind":"Painted","metadata":{"name":"b"},"spec":{"color":"blue"}}`, ""},
	}
	var questions []parityRequest
	for _, of := range selectorCases {
		fields := append(strings.Fields(of.fields), "metadata.name=a", "metadata.name!=a", "metadata.namespace={ns}", "metadata.uid=x", "nothing", "=", "a=b=c", "metadata.name in (a)")
		if strings.HasPrefix(of.path, "/api/v1/namespaces") && !strings.Contains(of.path, "{ns}") {
			// Namespaces of other tests exist as well.
			fields = append(strings.Fields(of.fields), "metadata.name={ns}", "metadata.namespace={ns}", "nothing=x")[2:]
		}
		for _, f := range fields {
			f = strings.ReplaceAll(url.QueryEscape(f), url.QueryEscape("{ns}"), "{ns}")
			questions = append(questions, parityRequest{"GET", of.path + "?fieldSelector=" + f, "", ""})
		}
	}
	namespace := "parity-" + rand.String(6)
	requireSameResults(t, func(t *testing.T, s side) (responses []string) {
		a := newRequester(t, s, namespace)
		for _, q := range made {
			a.eventually(q)
		}
		for _, q := range questions {
			responses = append(responses, a.send(q))
		}
		return responses
	})
}

const paintedDefinition = `{"metadata":{"name":"painted.parity.example.com"},"spec":{"group":"parity.example.com","scope":"Namespaced",
	"names":{"plural":"painted","singular":"painted","kind":"Painted"},"versions":[{"name":"v1","served":true,"storage":true,
	"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"color":{"type":"string"},
		"replicas":{"type":"integer"},"selector":{"type":"string"},"deep":{"type":"object","properties":{"size":{"type":"integer"},"done":{"type":"boolean"}}}}},
		"status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}},
	"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".spec.selector"}},
	"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.deep.size"},{"jsonPath":".spec.deep.done"}]}]}}`
