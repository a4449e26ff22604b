package e2e_test

import "testing"

const (
	aPod   = `{"metadata":{"name":"p","labels":{"app":"p"}},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`
	podsAt = "/api/v1/namespaces/{ns}/pods"
)

func TestParityBinding(t *testing.T) {
	const at = podsAt + "/p/binding"
	requireSameResponses(t,
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`, ""},
		parityRequest{"POST", podsAt, aPod, "metadata.name"},
		parityRequest{"GET", at, ``, ""},
		parityRequest{"POST", at, `x`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"other"},"target":{"kind":"Node","name":"n"}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"target":{"kind":"Pod","name":"n"}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p"}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"target":{"kind":"Pod"}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p","uid":"other"},"target":{"name":"n"}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p","resourceVersion":"1"},"target":{"name":"n"}}`, ""},
		parityRequest{"POST", at + "?dryRun=All", `{"metadata":{"name":"p"},"target":{"name":"n"}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p","annotations":{"a":"b"},"labels":{"l":"m","app":"q"}},"target":{"name":"n"}}`, ""},
		parityRequest{"GET", podsAt + "/p", ``, "metadata.annotations metadata.labels spec.nodeName status.phase status.nominatedNodeName metadata.generation"},
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"target":{"name":"m"}}`, ""},
		parityRequest{"POST", podsAt, `{"metadata":{"name":"gated"},"spec":{"schedulingGates":[{"name":"g"}],"containers":[{"name":"c","image":"example.com/c"}]}}`, ""},
		parityRequest{"POST", podsAt + "/gated/binding", `{"metadata":{"name":"gated"},"target":{"name":"n"}}`, ""},
		parityRequest{"POST", podsAt, `{"metadata":{"name":"leaving","finalizers":["example.com/f"]},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`, ""},
		parityRequest{"DELETE", podsAt + "/leaving?gracePeriodSeconds=0", ``, "metadata.name"},
		parityRequest{"POST", podsAt + "/leaving/binding", `{"metadata":{"name":"leaving"},"target":{"name":"n"}}`, ""},
		parityRequest{"POST", podsAt, `{"metadata":{"name":"old"},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`, ""},
		parityRequest{"POST", "/api/v1/namespaces/{ns}/bindings", `{"metadata":{"name":"old"},"target":{"name":"n"}}`, ""},
		parityRequest{"POST", "/api/v1/namespaces/{ns}/bindings", `{"metadata":{"name":"old"},"target":{"name":"n"}}`, ""},
		parityRequest{"POST", "/api/v1/namespaces/{ns}/bindings", `{"metadata":{"name":"nothing"},"target":{"name":"n"}}`, ""},
		parityRequest{"GET", "/api/v1/namespaces/{ns}/bindings", ``, ""},
		parityRequest{"GET", "/api/v1/bindings", ``, ""},
		parityRequest{"GET", podsAt + "/old", ``, "spec.nodeName"},
	)
}
