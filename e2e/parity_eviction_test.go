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
	runs := parityRequest{"PATCH", podsAt + "/p/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, "status.phase"}
	unready := parityRequest{"PATCH", podsAt + "/p/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}}`, "status.phase"}
	budget := func(status string) parityRequest {
		return parityRequest{"PATCH", budgets + "/b/status", fmt.Sprintf(`{"status":%s}`, status), ""}
	}
	seen := parityRequest{"GET", budgets + "/b", "", "status.disruptionsAllowed status.currentHealthy status.desiredHealthy"}
	requireSameResponses(t,
		parityRequest{"POST", at, me, ""},
		parityRequest{"POST", podsAt, aPod, ""},
		parityRequest{"GET", at, "", ""},
		parityRequest{"POST", at, `{"metadata":{"name":"other"}}`, ""},
		parityRequest{"POST", at, `{}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"resourceVersion":"1"}}}`, ""},
		parityRequest{"POST", at + "?dryRun=All", me, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["All"]}}`, ""},
		parityRequest{"GET", podsAt + "/p", "", "status.conditions"},
		// The server deletes a pod that does not run yet, regardless of its budget.
		parityRequest{"POST", budgets, `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"p"}}}}`, ""},
		parityRequest{"POST", at, `{"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""},
		parityRequest{"GET", podsAt + "/p", "", ""},
		// The server evicts a running pod only after its budget allows a disruption.
		parityRequest{"POST", podsAt, aPod, ""}, runs,
		parityRequest{"POST", at, me, ""},
		budget(`{"observedGeneration":1,"desiredHealthy":1,"currentHealthy":1,"expectedPods":1,"disruptionsAllowed":0}`),
		parityRequest{"POST", at, me, ""},
		budget(`{"desiredHealthy":1,"currentHealthy":2}`),
		parityRequest{"POST", at, me, ""},
		budget(`{"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"cannot say","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`),
		parityRequest{"POST", at, me, ""},
		budget(`{"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"Why","message":"cannot say","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`),
		parityRequest{"POST", at, me, ""},
		budget(`{"disruptionsAllowed":1,"conditions":null}`),
		parityRequest{"POST", at + "?dryRun=All", me, ""}, seen,
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""}, seen,
		parityRequest{"GET", podsAt + "/p", "", ""},
		// The server may evict a pod that is not ready, if the pod's budget has enough healthy pods
		// or permits the eviction.
		parityRequest{"POST", podsAt, aPod, ""}, unready,
		budget(`{"disruptionsAllowed":0,"desiredHealthy":2,"currentHealthy":1}`),
		parityRequest{"POST", at, me, ""},
		budget(`{"disruptionsAllowed":0,"desiredHealthy":1,"currentHealthy":1}`),
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""},
		parityRequest{"GET", podsAt + "/p", "", ""},
		parityRequest{"POST", podsAt, aPod, ""}, unready,
		parityRequest{"PATCH", budgets + "/b", `{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`, "metadata.generation"},
		budget(`{"observedGeneration":2,"disruptionsAllowed":0,"desiredHealthy":2,"currentHealthy":1}`),
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""},
		parityRequest{"GET", podsAt + "/p", "", ""},
		// The server does not evict a pod that has two budgets.
		parityRequest{"POST", budgets, `{"metadata":{"name":"c"},"spec":{"minAvailable":1,"selector":{}}}`, ""},
		parityRequest{"POST", podsAt, aPod, ""}, runs,
		parityRequest{"POST", at, me, ""},
		// If a finalizer keeps a pod, the pod records why it is deleted.
		parityRequest{"DELETE", budgets + "/b", "", ""},
		parityRequest{"DELETE", budgets + "/c", "", ""},
		parityRequest{"POST", at, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"other"}}}`, ""},
		parityRequest{"PATCH", podsAt + "/p", `{"metadata":{"finalizers":["example.com/f"]}}`, ""},
		parityRequest{"POST", at, `{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":0}}`, ""},
		parityRequest{"GET", podsAt + "/p", "", "metadata.finalizers metadata.deletionGracePeriodSeconds"},
	)
}
