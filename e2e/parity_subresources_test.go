package e2e_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
)

func TestParityEphemeralContainers(t *testing.T) {
	const at = podsAt + "/p/ephemeralcontainers"
	debug := `{"name":"d","image":"example.com/d","imagePullPolicy":"Always","resources":{},"terminationMessagePath":"/x","terminationMessagePolicy":"File"}`
	requireSameResponses(t,
		parityRequest{"GET", at, "", ""},
		parityRequest{"POST", podsAt, aPod, ""},
		parityRequest{"GET", at, "", "metadata.name spec.ephemeralContainers"},
		parityRequest{"POST", at, `{}`, ""},
		parityRequest{"DELETE", at, ``, ""},
		parityRequest{"PATCH", at, `{"metadata":{"labels":{"new":"label"}},"spec":{"nodeName":"n","ephemeralContainers":[` + debug + `]},"status":{"phase":"Running"}}`,
			"metadata.labels spec.nodeName spec.ephemeralContainers status.phase"},
		parityRequest{"GET", podsAt + "/p", "", "metadata.labels metadata.generation spec.nodeName spec.ephemeralContainers"},
		parityRequest{"PATCH", at, `{"spec":{"ephemeralContainers":null}}`, ""},
		parityRequest{"GET", at, "", "metadata.generation spec.ephemeralContainers"},
	)
}

func TestParityResize(t *testing.T) {
	const at = podsAt + "/p/resize"
	resources := func(r string) string {
		return `{"spec":{"containers":[{"name":"c","image":"example.com/c","resources":` + r + `}]}}`
	}
	shown := "metadata.generation spec.nodeName"
	requireSameResponses(t,
		parityRequest{"GET", at, "", ""},
		parityRequest{"POST", podsAt, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"example.com/c","resources":{"requests":{"cpu":"100m","memory":"1Mi","example.com/gpu":"1"},"limits":{"example.com/gpu":"1"}}}]}}`, ""},
		parityRequest{"GET", at, "", shown},
		parityRequest{"POST", at, `{}`, ""},
		parityRequest{"PATCH", at, resources(`{"requests":{"cpu":"200m","memory":"1Mi","example.com/gpu":"1"},"limits":{"example.com/gpu":"1"}}`), shown},
		parityRequest{"PATCH", at, resources(`{"requests":{"cpu":null}}`), ""},
		parityRequest{"PATCH", at, resources(`{"requests":{"example.com/gpu":"2","cpu":"1","memory":"1Mi"},"limits":{"example.com/gpu":"2"}}`), ""},
		parityRequest{"PATCH", at, resources(`{"requests":{"cpu":"1","memory":"1Mi","example.com/gpu":"1"},"limits":{"cpu":"1","memory":"1Mi","example.com/gpu":"1"}}`), ""},
		parityRequest{"PATCH", at, `{"spec":{"containers":[{"name":"other","image":"example.com/c"}]}}`, ""},
		parityRequest{"PATCH", at, `{"spec":{"containers":[{"name":"c","image":"example.com/c"},{"name":"d","image":"example.com/c"}]}}`, ""},
		parityRequest{"PATCH", at, `{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n"}}`, shown + " metadata.labels"},
		parityRequest{"GET", podsAt + "/p", "", shown},
	)
}

func TestParityFinalize(t *testing.T) {
	const at, finalize = "/api/v1/namespaces/{ns}-f", "/api/v1/namespaces/{ns}-f/finalize"
	requireSameResponses(t,
		parityRequest{"PUT", finalize, `{"metadata":{"name":"{ns}-f"}}`, ""},
		parityRequest{"POST", "/api/v1/namespaces", `{"metadata":{"name":"{ns}-f"},"spec":{"finalizers":["example.com/f","kubernetes"]}}`, "spec.finalizers status.phase"},
		parityRequest{"GET", finalize, "", ""},
		parityRequest{"PATCH", finalize, `{}`, ""},
		parityRequest{"PUT", at, `{"metadata":{"name":"{ns}-f","labels":{"a":"b"}}}`, "spec.finalizers metadata.labels.a status.phase"},
		parityRequest{"PUT", finalize, `{"metadata":{"name":"other"}}`, ""},
		parityRequest{"DELETE", at, "", "spec.finalizers status.phase"},
		parityRequest{"GET", at, "", "spec.finalizers status.phase"},
		parityRequest{"PUT", finalize, `{"metadata":{"name":"{ns}-f"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`, "spec.finalizers status.phase"},
		parityRequest{"DELETE", at, "", "spec.finalizers status.phase"},
		parityRequest{"PUT", finalize, `{"metadata":{"name":"{ns}-f"},"spec":{}}`, "spec.finalizers status.phase"},
		parityRequest{"GET", at, "", ""},
	)
}

func TestParityScale(t *testing.T) {
	const apps = "/apis/apps/v1/namespaces/{ns}/"
	template := `{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`
	shown := "spec.replicas status.replicas status.selector metadata.name"
	for resource, spec := range map[string]string{
		"deployments":  `{"replicas":2,"selector":{"matchLabels":{"app":"d"}},"template":` + template + `}`,
		"replicasets":  `{"replicas":2,"selector":{"matchLabels":{"app":"d"}},"template":` + template + `}`,
		"statefulsets": `{"replicas":2,"serviceName":"s","selector":{"matchLabels":{"app":"d"}},"template":` + template + `}`,
	} {
		t.Run(resource, func(t *testing.T) {
			at, scale := apps+resource+"/d", apps+resource+"/d/scale"
			requireSameResponses(t,
				parityRequest{"GET", scale, "", ""},
				parityRequest{"POST", apps + resource, `{"metadata":{"name":"d"},"spec":` + spec + `}`, ""},
				parityRequest{"GET", scale, "", shown},
				parityRequest{"PATCH", scale, `{"spec":{"replicas":3}}`, shown},
				parityRequest{"PATCH", scale, `{"spec":{"replicas":-1}}`, shown},
				parityRequest{"PATCH", scale + "?dryRun=All", `{"spec":{"replicas":9}}`, shown},
				parityRequest{"PUT", scale, `{"metadata":{"name":"d"},"spec":{"replicas":4}}`, shown},
				parityRequest{"PUT", scale, `{"metadata":{"name":"other"},"spec":{"replicas":4}}`, ""},
				parityRequest{"PUT", scale, `{"metadata":{"name":"d","resourceVersion":"1"},"spec":{"replicas":4}}`, ""},
				parityRequest{"PUT", scale, `{"metadata":{"name":"d","uid":"other"},"spec":{"replicas":4}}`, ""},
				parityRequest{"PUT", scale, `[]`, ""},
				parityRequest{"POST", scale, `{}`, ""},
				parityRequest{"DELETE", scale, ``, ""},
				parityRequest{"GET", at, "", "spec.replicas metadata.generation"},
			)
		})
	}
}

func TestParityToken(t *testing.T) {
	const accounts = "/api/v1/namespaces/{ns}/serviceaccounts"
	const at = accounts + "/a/token"
	shown := "metadata.name metadata.namespace spec.audiences spec.expirationSeconds spec.boundObjectRef"
	requireSameResponses(t,
		parityRequest{"POST", at, `{}`, ""},
		parityRequest{"POST", accounts, `{"metadata":{"name":"a"}}`, ""},
		parityRequest{"POST", at, `{}`, shown},
		parityRequest{"GET", at, ``, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"b"}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"namespace":"b"}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"a","namespace":"{ns}"},"spec":{"audiences":["x"],"expirationSeconds":700}}`, shown},
		parityRequest{"POST", at, `{"spec":{"expirationSeconds":599}}`, ""},
		parityRequest{"POST", at, `{"spec":{"expirationSeconds":4294967297}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"uid":"other"}}`, ""},
		parityRequest{"POST", at, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}}`, ""},
		parityRequest{"POST", podsAt, aPod, ""},
		parityRequest{"POST", at, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}}`, ""},
		parityRequest{"POST", at, `{"spec":{"boundObjectRef":{"kind":"ConfigMap","apiVersion":"v1","name":"p"}}}`, ""},
		parityRequest{"POST", "/api/v1/namespaces/{ns}/secrets", `{"metadata":{"name":"s"}}`, ""},
		parityRequest{"POST", at, `{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s","uid":"other"}}}`, ""},
		parityRequest{"POST", at, `{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}}`, shown},
	)
}

func TestParityStringData(t *testing.T) {
	const secrets = "/api/v1/namespaces/{ns}/secrets"
	requireSameResponses(t,
		parityRequest{"POST", secrets, `{"metadata":{"name":"s"},"data":{"a":"YQ==","b":"Yg=="},"stringData":{"b":"B","c":"C"}}`, "data stringData"},
		parityRequest{"GET", secrets + "/s", "", "data stringData"},
		parityRequest{"PATCH", secrets + "/s", `{"stringData":{"a":"A"}}`, "data stringData"},
		parityRequest{"PUT", secrets + "/s", `{"metadata":{"name":"s"},"stringData":{"d":"D"}}`, "data stringData"},
		parityRequest{"PUT", secrets + "/s", `{"metadata":{"name":"s"},"stringData":{}}`, "data stringData"},
	)
}

func TestParityScaleOfCustomResources(t *testing.T) {
	const painted = "/apis/parity.example.com/v1/namespaces/{ns}/painted"
	shown := "spec.replicas status.replicas status.selector metadata.name"
	namespace := "parity-" + rand.String(6)
	requireSameResults(t, func(t *testing.T, s side) (responses []string) {
		a := newRequester(t, s, namespace)
		a.eventually(parityRequest{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", paintedDefinition, ""})
		a.eventually(parityRequest{"POST", painted, `{"apiVersion":"parity.example.com/v1","kind":"Painted","metadata":{"name":"d"},"spec":{"replicas":2,"selector":"a=b"}}`, ""})
		for _, q := range []parityRequest{
			{"GET", painted + "/d/scale", "", shown},
			{"GET", painted + "/none/scale", "", shown},
			{"PATCH", painted + "/d/scale", `{"spec":{"replicas":3}}`, shown},
			{"PATCH", painted + "/d/scale", `{"spec":{"replicas":-1}}`, shown},
			{"PUT", painted + "/d/scale", `{"metadata":{"name":"d"},"spec":{"replicas":4}}`, shown},
			{"PUT", painted + "/d/scale", `{"metadata":{"name":"other"},"spec":{"replicas":4}}`, ""},
			{"PUT", painted + "/d/scale", `{"metadata":{"name":"d","resourceVersion":"1"},"spec":{"replicas":4}}`, ""},
			{"GET", painted + "/d", "", "spec metadata.generation"},
		} {
			responses = append(responses, a.send(q))
		}
		return responses
	})
}
