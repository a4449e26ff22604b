package e2e_test

import (
	"fmt"
	"testing"
)

func TestParityEviction(t *testing.T) {
	const (
		budgets = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"
		at      = podsAt + "/p/eviction"
		me      = `{"metadata":{"name":"p"}}`
	)
	runs := question{"PATCH", podsAt + "/p/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, "status.phase"}
	unready := question{"PATCH", podsAt + "/p/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}}`, "status.phase"}
	budget := func(status string) question {
		return question{"PATCH", budgets + "/b/status", fmt.Sprintf(`{"status":%s}`, status), ""}
	}
	seen := question{"GET", budgets + "/b", "", "status.disruptionsAllowed status.currentHealthy status.desiredHealthy"}
	asked(t,
		question{"POST", at, me, ""},
		question{"POST", podsAt, aPod, ""},
		question{"GET", at, "", ""},
		question{"POST", at, `{"metadata":{"name":"other"}}`, ""},
		question{"POST", at, `{}`, ""},
		question{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"resourceVersion":"1"}}}`, ""},
		question{"POST", at + "?dryRun=All", me, ""},
		question{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["All"]}}`, ""},
		question{"GET", podsAt + "/p", "", "status.conditions"},
		// The server deletes a pod that does not run yet, regardless of its budget.
		question{"POST", budgets, `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"p"}}}}`, ""},
		question{"POST", at, `{"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""},
		question{"GET", podsAt + "/p", "", ""},
		// The server evicts a running pod only after its budget allows a disruption.
		question{"POST", podsAt, aPod, ""}, runs,
		question{"POST", at, me, ""},
		budget(`{"observedGeneration":1,"desiredHealthy":1,"currentHealthy":1,"expectedPods":1,"disruptionsAllowed":0}`),
		question{"POST", at, me, ""},
		budget(`{"desiredHealthy":1,"currentHealthy":2}`),
		question{"POST", at, me, ""},
		budget(`{"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"cannot say","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`),
		question{"POST", at, me, ""},
		budget(`{"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"Why","message":"cannot say","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`),
		question{"POST", at, me, ""},
		budget(`{"disruptionsAllowed":1,"conditions":null}`),
		question{"POST", at + "?dryRun=All", me, ""}, seen,
		question{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""}, seen,
		question{"GET", podsAt + "/p", "", ""},
		// The server may evict a pod that is not ready, if the pod's budget has enough healthy pods
		// or permits the eviction.
		question{"POST", podsAt, aPod, ""}, unready,
		budget(`{"disruptionsAllowed":0,"desiredHealthy":2,"currentHealthy":1}`),
		question{"POST", at, me, ""},
		budget(`{"disruptionsAllowed":0,"desiredHealthy":1,"currentHealthy":1}`),
		question{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""},
		question{"GET", podsAt + "/p", "", ""},
		question{"POST", podsAt, aPod, ""}, unready,
		question{"PATCH", budgets + "/b", `{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`, "metadata.generation"},
		budget(`{"observedGeneration":2,"disruptionsAllowed":0,"desiredHealthy":2,"currentHealthy":1}`),
		question{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""},
		question{"GET", podsAt + "/p", "", ""},
		// The server does not evict a pod that has two budgets.
		question{"POST", budgets, `{"metadata":{"name":"c"},"spec":{"minAvailable":1,"selector":{}}}`, ""},
		question{"POST", podsAt, aPod, ""}, runs,
		question{"POST", at, me, ""},
		// If a finalizer keeps a pod, the pod records why it is deleted.
		question{"DELETE", budgets + "/b", "", ""},
		question{"DELETE", budgets + "/c", "", ""},
		question{"POST", at, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"other"}}}`, ""},
		question{"PATCH", podsAt + "/p", `{"metadata":{"finalizers":["example.com/f"]}}`, ""},
		question{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""},
		question{"GET", podsAt + "/p", "", "metadata.finalizers metadata.deletionGracePeriodSeconds"},
	)
}
