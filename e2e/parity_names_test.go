package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// nameCases lists the types whose names the servers validate. Each body has the fields that the
// real server requires, and %s stands for the metadata.
var nameCases = []struct{ path, body string }{
	{"/api/v1/namespaces", `{"metadata":%s}`},
	{"/api/v1/namespaces/{ns}/configmaps", `{"metadata":%s}`},
	{"/api/v1/namespaces/{ns}/endpoints", `{"metadata":%s}`},
	{"/api/v1/namespaces/{ns}/events", `{"metadata":%s,"involvedObject":{"namespace":"{ns}"}}`},
	{"/api/v1/namespaces/{ns}/limitranges", `{"metadata":%s}`},
	{"/api/v1/nodes", `{"metadata":%s}`},
	{"/api/v1/namespaces/{ns}/persistentvolumeclaims", `{"metadata":%s,"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`},
	{"/api/v1/persistentvolumes", `{"metadata":%s,"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"hostPath":{"path":"/x"}}}`},
	{"/api/v1/namespaces/{ns}/pods", `{"metadata":%s,"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`},
	{"/api/v1/namespaces/{ns}/podtemplates", `{"metadata":%s,"template":{"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}}`},
	{"/api/v1/namespaces/{ns}/replicationcontrollers", `{"metadata":%s,"spec":{"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}}}`},
	{"/api/v1/namespaces/{ns}/resourcequotas", `{"metadata":%s}`},
	{"/api/v1/namespaces/{ns}/secrets", `{"metadata":%s}`},
	{"/api/v1/namespaces/{ns}/serviceaccounts", `{"metadata":%s}`},
	{"/api/v1/namespaces/{ns}/services", `{"metadata":%s,"spec":{"clusterIP":"None","selector":{"a":"b"}}}`},
	{"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", `{"metadata":%s}`},
	{"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", `{"metadata":%s,"spec":{"policyName":"p","validationActions":["Deny"]}}`},
	{"/apis/apps/v1/namespaces/{ns}/controllerrevisions", `{"metadata":%s,"data":{"a":"b"},"revision":1}`},
	{"/apis/apps/v1/namespaces/{ns}/daemonsets", `{"metadata":%s,` + workload + `}`},
	{"/apis/apps/v1/namespaces/{ns}/deployments", `{"metadata":%s,` + workload + `}`},
	{"/apis/apps/v1/namespaces/{ns}/replicasets", `{"metadata":%s,` + workload + `}`},
	{"/apis/apps/v1/namespaces/{ns}/statefulsets", `{"metadata":%s,` + workload + `}`},
	{"/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers", `{"metadata":%s,"spec":{"maxReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`},
	{"/apis/batch/v1/namespaces/{ns}/cronjobs", `{"metadata":%s,"spec":{"schedule":"* * * * *","jobTemplate":{"spec":` + jobSpec + `}}}`},
	{"/apis/batch/v1/namespaces/{ns}/jobs", `{"metadata":%s,"spec":` + jobSpec + `}`},
	{"/apis/certificates.k8s.io/v1/certificatesigningrequests", `{"metadata":%s,"spec":{"signerName":"example.com/s","usages":["client auth"],"request":"` + signingRequest + `"}}`},
	{"/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", `{"metadata":%s}`},
	{"/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices", `{"metadata":%s,"addressType":"IPv4","endpoints":[]}`},
	{"/apis/events.k8s.io/v1/namespaces/{ns}/events", `{"metadata":%s,"eventTime":"2026-01-01T00:00:00.000000Z","type":"Normal","reason":"r","action":"a","reportingController":"example.com/c","reportingInstance":"i","regarding":{"namespace":"{ns}"}}`},
	{"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", `{"metadata":%s,"spec":{"priorityLevelConfiguration":{"name":"x"},"matchingPrecedence":9}}`},
	{"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", `{"metadata":%s,"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}}}`},
	{"/apis/networking.k8s.io/v1/ingressclasses", `{"metadata":%s,"spec":{"controller":"example.com/c"}}`},
	{"/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses", `{"metadata":%s,"spec":{"defaultBackend":{"service":{"name":"s","port":{"number":1}}}}}`},
	{"/apis/networking.k8s.io/v1/ipaddresses", `{"metadata":%s,"spec":{"parentRef":{"resource":"services","name":"s","namespace":"n"}}}`},
	{"/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies", `{"metadata":%s,"spec":{"podSelector":{}}}`},
	{"/apis/networking.k8s.io/v1/servicecidrs", `{"metadata":%s,"spec":{"cidrs":["10.9.0.0/24"]}}`},
	{"/apis/node.k8s.io/v1/runtimeclasses", `{"metadata":%s,"handler":"h"}`},
	{"/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", `{"metadata":%s,"spec":{"minAvailable":1}}`},
	{"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"metadata":%s,"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"}}`},
	{"/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":%s}`},
	{"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings", `{"metadata":%s,"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"}}`},
	{"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", `{"metadata":%s}`},
	{"/apis/resource.k8s.io/v1/deviceclasses", `{"metadata":%s}`},
	{"/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaims", `{"metadata":%s,"spec":{}}`},
	{"/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaimtemplates", `{"metadata":%s,"spec":{"spec":{}}}`},
	{"/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":%s,"value":1}`},
	{"/apis/storage.k8s.io/v1/csidrivers", `{"metadata":%s}`},
	{"/apis/storage.k8s.io/v1/csinodes", `{"metadata":%s}`},
	{"/apis/storage.k8s.io/v1/namespaces/{ns}/csistoragecapacities", `{"metadata":%s,"storageClassName":"s"}`},
	{"/apis/storage.k8s.io/v1/storageclasses", `{"metadata":%s,"provisioner":"example.com/p"}`},
	{"/apis/storage.k8s.io/v1/volumeattachments", `{"metadata":%s,"spec":{"attacher":"example.com","nodeName":"n","source":{"persistentVolumeName":"p"}}}`},
}

const (
	workload = `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}}`
	// signingRequest is a certificate signing request. Its private key does not exist any more.
	signingRequest = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCREFTNitXVHl3eTRUTUtxT1VVM2doQi9OVGMyZTRyZklPZk5JRi9xRTJoYXRyWmJ6Z0luQ2Vrbk9ES0ZZa3lOCkZWSytHcFFqRFRlNm5ObzJaYVJZU2lTZ0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCR0FpRUEyNFdvUWFVNGQ3NXIKSldFcTBvei9xcEZ4Q25PUGMzbkxTelZqMUdOa2F2MENJUUMyWmhIeGtiUjlSQ3lnWm80ZXdGb1R6V3NvMm8ySQp6bXlVOXBRTW0vYTMydz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="
	jobSpec        = `{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"example.com/c"}]}}}`
)

func TestParityNames(t *testing.T) {
	long := strings.Repeat("a", 64)
	names := []string{"", "Capital", "under_score", "with space", "a/b", "100%", "..", "a..b", "-a", "a-", "1a", "a.b", "a:b", long, strings.Repeat(long, 4), "1.2.3.4", "ok"}
	for _, of := range nameCases {
		t.Run(of.path[strings.LastIndexByte(of.path, '/')+1:], func(t *testing.T) {
			var questions []parityRequest
			for _, name := range names {
				if strings.HasSuffix(of.path, "/limitranges") && name == "" {
					continue // If an object of this type has no name, the server names it by a uid.
				}
				if strings.HasSuffix(of.path, "/jobs") && len(validation.IsValidLabelValue(name)) > 0 {
					// The server also puts a job's name into a label of its pods, and reports an
					// invalid label as well.
					continue
				}
				body := strings.Replace(of.body, "%s", fmt.Sprintf(`{"name":%q}`, name), 1)
				questions = append(questions, parityRequest{"POST", of.path + "?dryRun=All", body, "metadata.name"})
			}
			requireSameResponses(t, questions...)
		})
	}
}

func TestParityMetadata(t *testing.T) {
	const at = "/api/v1/namespaces/{ns}/configmaps"
	questions := []parityRequest{{"POST", at, `{"metadata":{"name":"x"}}`, ""}}
	for _, meta := range []string{
		`{"name":"x","labels":{"a b":"c"}}`,
		`{"name":"x","labels":{"a":"` + strings.Repeat("a", 64) + `"}}`,
		`{"name":"x","labels":{"a":"-b"}}`,
		`{"name":"x","annotations":{"a b":"c"}}`,
		`{"name":"x","finalizers":["no/such/thing","nothing"]}`,
		// Version 1.37 changed the message about an ownerReference without a uid.
		`{"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"v","controller":true}]}`,
		`{"name":"X","labels":{"a b":"c"}}`,
	} {
		questions = append(questions,
			parityRequest{"POST", at + "?dryRun=All", `{"metadata":` + strings.Replace(meta, `"x"`, `"y"`, 1) + `}`, ""},
			parityRequest{"PATCH", at + "/x?dryRun=All", `{"metadata":` + meta + `}`, ""})
	}
	requireSameResponses(t, questions...)
}

func TestParityGeneratedNames(t *testing.T) {
	const at = "/api/v1/namespaces/{ns}/configmaps"
	var questions []parityRequest
	for _, base := range []string{"x-", "X-", "x_", "-", "x.", strings.Repeat("a", 58), strings.Repeat("a", 80), "x-/", "%%"} {
		questions = append(questions, parityRequest{"POST", at, fmt.Sprintf(`{"metadata":{"generateName":%q}}`, base), "metadata.name metadata.generateName"})
	}
	for _, path := range []string{"/api/v1/namespaces", "/apis/apps/v1/namespaces/{ns}/statefulsets", "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles"} {
		for _, of := range nameCases {
			if of.path == path {
				questions = append(questions,
					parityRequest{"POST", path + "?dryRun=All", strings.Replace(of.body, "%s", `{"generateName":"a.b-"}`, 1), ""},
					parityRequest{"POST", path + "?dryRun=All", strings.Replace(of.body, "%s", `{"generateName":"A-"}`, 1), ""})
			}
		}
	}
	both := `{"metadata":{"name":"both","generateName":"both-"}}`
	requireSameResponses(t, append(questions,
		parityRequest{"POST", at, both, ""},
		parityRequest{"POST", at, both, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"both"}}`, ""},
		parityRequest{"POST", at + "?dryRun=All", both, ""},
	)...)
}
