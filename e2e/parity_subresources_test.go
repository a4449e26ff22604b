package e2e_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
)

func TestParityEphemeralContainers(t *testing.T) {
	const at = podsAt + "/p/ephemeralcontainers"
	debug := `{"name":"d","image":"example.com/d","imagePullPolicy":"Always","resources":{},"terminationMessagePath":"/x","terminationMessagePolicy":"File"}`
	asked(t,
		question{"GET", at, "", ""},
		question{"POST", podsAt, aPod, ""},
		question{"GET", at, "", "metadata.name spec.ephemeralContainers"},
		question{"POST", at, `{}`, ""},
		question{"DELETE", at, ``, ""},
		question{"PATCH", at, `{"metadata":{"labels":{"new":"label"}},"spec":{"nodeName":"n","ephemeralContainers":[` + debug + `]},"status":{"phase":"Running"}}`,
			"metadata.labels spec.nodeName spec.ephemeralContainers status.phase"},
		question{"GET", podsAt + "/p", "", "metadata.labels metadata.generation spec.nodeName spec.ephemeralContainers"},
		question{"PATCH", at, `{"spec":{"ephemeralContainers":null}}`, ""},
		question{"GET", at, "", "metadata.generation spec.ephemeralContainers"},
	)
}

func TestParityResize(t *testing.T) {
	const at = podsAt + "/p/resize"
	resources := func(r string) string {
		return `{"spec":{"containers":[{"name":"c","image":"example.com/c","resources":` + r + `}]}}`
	}
	shown := "metadata.generation spec.nodeName"
	asked(t,
		question{"GET", at, "", ""},
		question{"POST", podsAt, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"example.com/c","resources":{"requests":{"cpu":"100m","memory":"1Mi","example.com/gpu":"1"},"limits":{"example.com/gpu":"1"}}}]}}`, ""},
		question{"GET", at, "", shown},
		question{"POST", at, `{}`, ""},
		question{"PATCH", at, resources(`{"requests":{"cpu":"200m","memory":"1Mi","example.com/gpu":"1"},"limits":{"example.com/gpu":"1"}}`), shown},
		question{"PATCH", at, resources(`{"requests":{"cpu":null}}`), ""},
		question{"PATCH", at, resources(`{"requests":{"example.com/gpu":"2","cpu":"1","memory":"1Mi"},"limits":{"example.com/gpu":"2"}}`), ""},
		question{"PATCH", at, resources(`{"requests":{"cpu":"1","memory":"1Mi","example.com/gpu":"1"},"limits":{"cpu":"1","memory":"1Mi","example.com/gpu":"1"}}`), ""},
		question{"PATCH", at, `{"spec":{"containers":[{"name":"other","image":"example.com/c"}]}}`, ""},
		question{"PATCH", at, `{"spec":{"containers":[{"name":"c","image":"example.com/c"},{"name":"d","image":"example.com/c"}]}}`, ""},
		question{"PATCH", at, `{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n"}}`, shown + " metadata.labels"},
		question{"GET", podsAt + "/p", "", shown},
	)
}

func TestParityFinalize(t *testing.T) {
	const at, finalize = "/api/v1/namespaces/{ns}-f", "/api/v1/namespaces/{ns}-f/finalize"
	asked(t,
		question{"PUT", finalize, `{"metadata":{"name":"{ns}-f"}}`, ""},
		question{"POST", "/api/v1/namespaces", `{"metadata":{"name":"{ns}-f"},"spec":{"finalizers":["example.com/f","kubernetes"]}}`, "spec.finalizers status.phase"},
		question{"GET", finalize, "", ""},
		question{"PATCH", finalize, `{}`, ""},
		question{"PUT", at, `{"metadata":{"name":"{ns}-f","labels":{"a":"b"}}}`, "spec.finalizers metadata.labels.a status.phase"},
		question{"PUT", finalize, `{"metadata":{"name":"other"}}`, ""},
		question{"DELETE", at, "", "spec.finalizers status.phase"},
		question{"GET", at, "", "spec.finalizers status.phase"},
		question{"PUT", finalize, `{"metadata":{"name":"{ns}-f"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`, "spec.finalizers status.phase"},
		question{"DELETE", at, "", "spec.finalizers status.phase"},
		question{"PUT", finalize, `{"metadata":{"name":"{ns}-f"},"spec":{}}`, "spec.finalizers status.phase"},
		question{"GET", at, "", ""},
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
			asked(t,
				question{"GET", scale, "", ""},
				question{"POST", apps + resource, `{"metadata":{"name":"d"},"spec":` + spec + `}`, ""},
				question{"GET", scale, "", shown},
				question{"PATCH", scale, `{"spec":{"replicas":3}}`, shown},
				question{"PATCH", scale, `{"spec":{"replicas":-1}}`, shown},
				question{"PATCH", scale + "?dryRun=All", `{"spec":{"replicas":9}}`, shown},
				question{"PUT", scale, `{"metadata":{"name":"d"},"spec":{"replicas":4}}`, shown},
				question{"PUT", scale, `{"metadata":{"name":"other"},"spec":{"replicas":4}}`, ""},
				question{"PUT", scale, `{"metadata":{"name":"d","resourceVersion":"1"},"spec":{"replicas":4}}`, ""},
				question{"PUT", scale, `{"metadata":{"name":"d","uid":"other"},"spec":{"replicas":4}}`, ""},
				question{"PUT", scale, `[]`, ""},
				question{"POST", scale, `{}`, ""},
				question{"DELETE", scale, ``, ""},
				question{"GET", at, "", "spec.replicas metadata.generation"},
			)
		})
	}
}

func TestParityToken(t *testing.T) {
	const accounts = "/api/v1/namespaces/{ns}/serviceaccounts"
	const at = accounts + "/a/token"
	shown := "metadata.name metadata.namespace spec.audiences spec.expirationSeconds spec.boundObjectRef"
	asked(t,
		question{"POST", at, `{}`, ""},
		question{"POST", accounts, `{"metadata":{"name":"a"}}`, ""},
		question{"POST", at, `{}`, shown},
		question{"GET", at, ``, ""},
		question{"POST", at, `{"metadata":{"name":"b"}}`, ""},
		question{"POST", at, `{"metadata":{"namespace":"b"}}`, ""},
		question{"POST", at, `{"metadata":{"name":"a","namespace":"{ns}"},"spec":{"audiences":["x"],"expirationSeconds":700}}`, shown},
		question{"POST", at, `{"spec":{"expirationSeconds":599}}`, ""},
		question{"POST", at, `{"spec":{"expirationSeconds":4294967297}}`, ""},
		question{"POST", at, `{"metadata":{"uid":"other"}}`, ""},
		question{"POST", at, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}}`, ""},
		question{"POST", podsAt, aPod, ""},
		question{"POST", at, `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}}`, ""},
		question{"POST", at, `{"spec":{"boundObjectRef":{"kind":"ConfigMap","apiVersion":"v1","name":"p"}}}`, ""},
		question{"POST", "/api/v1/namespaces/{ns}/secrets", `{"metadata":{"name":"s"}}`, ""},
		question{"POST", at, `{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s","uid":"other"}}}`, ""},
		question{"POST", at, `{"spec":{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}}`, shown},
	)
}

func TestParityStringData(t *testing.T) {
	const secrets = "/api/v1/namespaces/{ns}/secrets"
	asked(t,
		question{"POST", secrets, `{"metadata":{"name":"s"},"data":{"a":"YQ==","b":"Yg=="},"stringData":{"b":"B","c":"C"}}`, "data stringData"},
		question{"GET", secrets + "/s", "", "data stringData"},
		question{"PATCH", secrets + "/s", `{"stringData":{"a":"A"}}`, "data stringData"},
		question{"PUT", secrets + "/s", `{"metadata":{"name":"s"},"stringData":{"d":"D"}}`, "data stringData"},
		question{"PUT", secrets + "/s", `{"metadata":{"name":"s"},"stringData":{}}`, "data stringData"},
	)
}

func TestParityScaleOfCustomResources(t *testing.T) {
	const painted = "/apis/parity.example.com/v1/namespaces/{ns}/painted"
	shown := "spec.replicas status.replicas status.selector metadata.name"
	namespace := "parity-" + rand.String(6)
	sameAnswers(t, func(t *testing.T, s side) (answers []string) {
		a := newAsker(t, s, namespace)
		a.eventually(question{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", paintedDefinition, ""})
		a.eventually(question{"POST", painted, `{"apiVersion":"parity.example.com/v1","kind":"Painted","metadata":{"name":"d"},"spec":{"replicas":2,"selector":"a=b"}}`, ""})
		for _, q := range []question{
			{"GET", painted + "/d/scale", "", shown},
			{"GET", painted + "/none/scale", "", shown},
			{"PATCH", painted + "/d/scale", `{"spec":{"replicas":3}}`, shown},
			{"PATCH", painted + "/d/scale", `{"spec":{"replicas":-1}}`, shown},
			{"PUT", painted + "/d/scale", `{"metadata":{"name":"d"},"spec":{"replicas":4}}`, shown},
			{"PUT", painted + "/d/scale", `{"metadata":{"name":"other"},"spec":{"replicas":4}}`, ""},
			{"PUT", painted + "/d/scale", `{"metadata":{"name":"d","resourceVersion":"1"},"spec":{"replicas":4}}`, ""},
			{"GET", painted + "/d", "", "spec metadata.generation"},
		} {
			answers = append(answers, a.ask(q))
		}
		return answers
	})
}
