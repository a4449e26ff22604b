package e2e_test

import "testing"

const (
	aPod   = `{"metadata":{"name":"p","labels":{"app":"p"}},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`
	podsAt = "/api/v1/namespaces/{ns}/pods"
)

func TestParityBinding(t *testing.T) {
	const at = podsAt + "/p/binding"
	asked(t,
		question{"POST", at, `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`, ""},
		question{"POST", podsAt, aPod, "metadata.name"},
		question{"GET", at, ``, ""},
		question{"POST", at, `x`, ""},
		question{"POST", at, `{"metadata":{"name":"other"},"target":{"kind":"Node","name":"n"}}`, ""},
		question{"POST", at, `{"metadata":{"name":"p"},"target":{"kind":"Pod","name":"n"}}`, ""},
		question{"POST", at, `{"metadata":{"name":"p"}}`, ""},
		question{"POST", at, `{"metadata":{"name":"p"},"target":{"kind":"Pod"}}`, ""},
		question{"POST", at, `{"metadata":{"name":"p","uid":"other"},"target":{"name":"n"}}`, ""},
		question{"POST", at, `{"metadata":{"name":"p","resourceVersion":"1"},"target":{"name":"n"}}`, ""},
		question{"POST", at + "?dryRun=All", `{"metadata":{"name":"p"},"target":{"name":"n"}}`, ""},
		question{"POST", at, `{"metadata":{"name":"p","annotations":{"a":"b"},"labels":{"l":"m","app":"q"}},"target":{"name":"n"}}`, ""},
		question{"GET", podsAt + "/p", ``, "metadata.annotations metadata.labels spec.nodeName status.phase status.nominatedNodeName metadata.generation"},
		question{"POST", at, `{"metadata":{"name":"p"},"target":{"name":"m"}}`, ""},
		question{"POST", podsAt, `{"metadata":{"name":"gated"},"spec":{"schedulingGates":[{"name":"g"}],"containers":[{"name":"c","image":"example.com/c"}]}}`, ""},
		question{"POST", podsAt + "/gated/binding", `{"metadata":{"name":"gated"},"target":{"name":"n"}}`, ""},
		question{"POST", podsAt, `{"metadata":{"name":"leaving","finalizers":["example.com/f"]},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`, ""},
		question{"DELETE", podsAt + "/leaving?gracePeriodSeconds=0", ``, "metadata.name"},
		question{"POST", podsAt + "/leaving/binding", `{"metadata":{"name":"leaving"},"target":{"name":"n"}}`, ""},
		question{"POST", podsAt, `{"metadata":{"name":"old"},"spec":{"containers":[{"name":"c","image":"example.com/c"}]}}`, ""},
		question{"POST", "/api/v1/namespaces/{ns}/bindings", `{"metadata":{"name":"old"},"target":{"name":"n"}}`, ""},
		question{"POST", "/api/v1/namespaces/{ns}/bindings", `{"metadata":{"name":"old"},"target":{"name":"n"}}`, ""},
		question{"POST", "/api/v1/namespaces/{ns}/bindings", `{"metadata":{"name":"nothing"},"target":{"name":"n"}}`, ""},
		question{"GET", "/api/v1/namespaces/{ns}/bindings", ``, ""},
		question{"GET", "/api/v1/bindings", ``, ""},
		question{"GET", podsAt + "/old", ``, "spec.nodeName"},
	)
}
