package e2e_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/apitest/fielddocs"
)

// objectsOfTables are the objects in the compared tables. The objects set all fields that the real
// server would otherwise set.
const objectsOfTables = `
apiVersion: v1
kind: Pod
metadata: {name: crashing}
spec: {nodeName: nowhere, automountServiceAccountToken: false, containers: [{name: a, image: b}, {name: c, image: d}], readinessGates: [{conditionType: x/y}]}
---
apiVersion: v1
kind: Pod
metadata: {name: initializing}
spec: {nodeName: nowhere, automountServiceAccountToken: false, initContainers: [{name: i, image: b}, {name: j, image: b}], containers: [{name: a, image: b}]}
---
apiVersion: v1
kind: Pod
metadata: {name: done}
spec: {nodeName: nowhere, automountServiceAccountToken: false, containers: [{name: a, image: b}]}
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {type: ClusterIP, clusterIP: None, clusterIPs: [None], selector: {b: c, a: d}, ports: [{name: first, port: 80, protocol: TCP}, {name: second, port: 53, protocol: UDP}]}
---
apiVersion: v1
kind: Service
metadata: {name: outside}
spec: {type: ExternalName, externalName: example.com}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: map}
data: {a: b, c: d}
binaryData: {e: Zg==}
---
apiVersion: v1
kind: Secret
metadata: {name: secret}
type: Opaque
data: {a: Zg==}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: account}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: set}
spec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}, {name: c, image: d}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: stateful}
spec: {replicas: 3, serviceName: x, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: daemon}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {zone: there}, containers: [{name: a, image: b}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cron}
spec: {schedule: "* * * * *", suspend: true, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: in}
spec: {ingressClassName: c, tls: [{hosts: [a.example]}], rules: [{host: a.example, http: &http {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}]}}, {host: b.example, http: *http}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: policy}
spec: {podSelector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: In, values: [d, e]}]}, policyTypes: [Ingress]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: budget}
spec: {minAvailable: 50%, selector: {matchLabels: {a: b}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaler}
spec: {minReplicas: 2, maxReplicas: 5, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, volumeMode: Filesystem, resources: {requests: {storage: 1Gi}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: role}
rules: [{verbs: [get], apiGroups: [""], resources: [pods]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: binding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: role}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: u}, {apiGroup: rbac.authorization.k8s.io, kind: Group, name: g}, {kind: ServiceAccount, name: s, namespace: elsewhere}]
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: lease}
spec: {holderIdentity: me}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec: {limits: [{type: Container, default: {cpu: 1}}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: slice}
addressType: IPv4
ports: [{name: x, port: 80, protocol: TCP}]
endpoints: [{addresses: [192.0.2.1]}, {addresses: [192.0.2.2]}, {addresses: [192.0.2.3]}, {addresses: [192.0.2.4]}]
---
apiVersion: v1
kind: Event
metadata: {name: event}
involvedObject: {kind: Pod, name: done, namespace: NAMESPACE, fieldPath: "spec.containers{a}"}
reason: Why
message: "What happened "
type: Warning
source: {component: me, host: here}
count: 3
firstTimestamp: "2020-01-01T00:00:00Z"
lastTimestamp: "2020-01-01T00:00:00Z"
---
` + webDeployment

var statuses = map[string]string{
	"pod/crashing": `{"phase":"Running","podIP":"10.0.0.9","podIPs":[{"ip":"10.0.0.9"}],"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[
		{"name":"a","image":"b","imageID":"","ready":true,"restartCount":1,"state":{"running":{}}},
		{"name":"c","image":"d","imageID":"","ready":false,"restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}`,
	"pod/initializing": `{"phase":"Pending","initContainerStatuses":[
		{"name":"i","image":"b","imageID":"","ready":true,"restartCount":1,"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
		{"name":"j","image":"b","imageID":"","ready":false,"restartCount":2,"state":{"terminated":{"exitCode":3}}}]}`,
	"pod/done":       `{"phase":"Succeeded","containerStatuses":[{"name":"a","image":"b","imageID":"","ready":false,"restartCount":0,"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}`,
	"replicaset/set": `{"replicas":2,"readyReplicas":1,"availableReplicas":1,"fullyLabeledReplicas":2}`,
	"deployment/web": `{"replicas":2,"readyReplicas":1,"availableReplicas":1,"updatedReplicas":2,"unavailableReplicas":1}`,
}

// eachSideWith starts apitest with options. It runs a test against the real server, and then
// against apitest.
func eachSideWith(t *testing.T, opts apitest.Options, play func(t *testing.T, s side)) {
	eachSide(t, func(t *testing.T, s side) {
		if s.name == "apitest" {
			s.config.Host = apitest.Start(t, opts).URL()
		}
		play(t, s)
	})
}

// requireSameOutput runs play against both servers, and requires that kubectl prints the same
// output. The output that play returns must not depend on time.
func requireSameOutput(t *testing.T, opts apitest.Options, play func(k kubectl) []string) {
	var outputs [][]string
	namespace := "tables-" + rand.String(6)
	eachSideWith(t, opts, func(t *testing.T, s side) {
		k := newKubectl(t, kubeconfigOf(t, s.config), namespace)
		k.run("create", "namespace", namespace)
		outputs = append(outputs, play(k))
	})
	if len(outputs) == 2 {
		require.Equal(t, strings.Join(outputs[0], "\n"), strings.Join(outputs[1], "\n"))
	}
}

// TestParityTables checks that kubectl prints the same rows for the same objects.
func TestParityTables(t *testing.T) {
	requireSameOutput(t, apitest.Options{}, func(k kubectl) (out []string) {
		k.apply(strings.ReplaceAll(objectsOfTables, "NAMESPACE", k.namespace))
		for object, status := range statuses {
			k.run("patch", object, "--subresource=status", "--type=merge", "-p", `{"status":`+status+`}`)
		}
		for _, kind := range []string{"pods", "services", "configmaps map", "secrets", "serviceaccounts account", "replicasets", "statefulsets", "daemonsets", "deployments",
			"cronjobs", "ingresses", "networkpolicies", "poddisruptionbudgets", "horizontalpodautoscalers", "persistentvolumeclaims", "rolebindings", "leases",
			"endpointslices", "events"} {
			args := append([]string{"get"}, strings.Fields(kind)...)
			out = append(out, shown(k.run(args...)), shown(k.run(append(args, "-o", "wide")...)))
		}
		for _, kind := range []string{"roles", "limitranges"} {
			out = append(out, regexp.MustCompile(`20\S+Z`).ReplaceAllString(shown(k.run("get", kind)), "TIME"))
		}
		out = append(out, shown(k.run("get", "namespace", k.namespace)))
		return out
	})
}

// TestParityCustomResources compares both versions, the columns, the scale, and the server's
// validation messages.
func TestParityCustomResources(t *testing.T) {
	requireSameOutput(t, apitest.Options{CheckSchemas: true}, func(k kubectl) (out []string) {
		k.apply(gadgets)
		k.run("wait", "--for=condition=Established", "crd/gadgets.parity.example", "--timeout=60s")
		k.apply(gadget)
		k.run("scale", "gadget", "g", "--replicas=5")
		k.run("patch", "gadget", "g", "--subresource=status", "--type=merge", "-p", `{"status":{"conditions":[{"type":"Ready","status":"True"}],"unknown":1}}`)
		out = append(out, shown(k.run("get", "gadgets")), shown(k.run("get", "gd", "-o", "wide")), shown(k.run("get", "gadgets.v1beta1.parity.example")),
			k.run("get", "gadget", "g", "-o", "jsonpath={.apiVersion} {.spec} {.status}"), k.run("get", "gadgets.v1beta1.parity.example", "g", "-o", "jsonpath={.apiVersion}"),
			k.run("get", "gadgets.v1.parity.example", "g", "--subresource=scale", "-o", "jsonpath={.kind} {.spec} {.status}"))
		for _, spec := range []string{
			`{}`, `{"color":"green"}`, `{"color":7}`, `{"color":"red","size":10}`, `{"color":"red","size":-1}`, `{"color":"red","size":1.5}`, `{"color":"red","size":"1"}`,
			`{"color":"red","name":"A1"}`, `{"color":"red","name":"a"}`, `{"color":"red","half":0.3}`, `{"color":"red","since":"x"}`, `{"color":"red","port":true}`,
			`{"color":"red","tags":["a","b","c"]}`, `{"color":"red","tags":["a","a"]}`, `{"color":"red","parts":[]}`, `{"color":"red","parts":[{}]}`,
			`{"color":"red","parts":[{"id":"a"},{"id":"a"}]}`, `{"color":"red","labels":{"a":"1","b":"2","c":"3"}}`, `{"color":"red","labels":{"a":1}}`,
			`{"color":"red","one":{}}`, `{"color":"red","one":{"a":"","b":""}}`, `{"color":"red","bogus":1}`, `{"color":"red","parts":[{"id":"a","bogus":1}]}`,
		} {
			said, err := k.try(`{"apiVersion":"parity.example/v1","kind":"Gadget","metadata":{"name":"bad"},"spec":`+spec+`}`, "create", "-f", "-")
			lines := strings.Split(said, "\n")
			slices.Sort(lines) // The messages of the real server have no fixed order.
			out = append(out, fmt.Sprint(spec, " ", err != nil, strings.Join(lines, "\n")))
		}
		said, err := k.try(`{"apiVersion":"parity.example/v1","kind":"Gadget","metadata":{"name":"pruned"},"spec":{"color":"red","bogus":1,"free":{"a":1},"parts":[{"id":"a"}]}}`, "create", "--validate=warn", "-f", "-")
		require.NoError(k.t, err, said)
		out = append(out, k.run("get", "gadget", "pruned", "-o", "jsonpath={.spec}"))
		k.run("delete", "crd", "gadgets.parity.example")
		return out
	})
}

// TestParityExplain compares the fields that kubectl explain prints, the types of these fields, and
// which fields are required.
func TestParityExplain(t *testing.T) {
	fields := regexp.MustCompile(`(?m)^\s*\S+\s<[^>]*>.*$`)
	requireSameOutput(t, apitest.Options{FieldDocs: fielddocs.Of}, func(k kubectl) (out []string) {
		for _, path := range []string{"configmaps", "pod.metadata", "pod.spec.containers.ports", "pod.spec.containers.env", "pod.spec.containers.resources", "deployment.spec", "deployment.spec.strategy",
			"service.spec.ports", "lease", "role.rules", "namespace.status"} {
			said := k.run("explain", path)
			head, _, _ := strings.Cut(said, "\n\n")
			out = append(out, path, head, strings.Join(fields.FindAllString(said, -1), "\n"))
		}
		out = append(out, k.run("explain", "pod.spec.nodeName"))
		return out
	})
}
