package e2e_test

import "testing"

// A user who has all permissions sends the requests to both servers.
func TestParityReviews(t *testing.T) {
	const authz, authn = "/apis/authorization.k8s.io/v1/", "/apis/authentication.k8s.io/v1/"
	requireSameResponses(t,
		parityRequest{"POST", authz + "selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","namespace":"{ns}"}}}`, "status.allowed spec.resourceAttributes metadata.name"},
		parityRequest{"POST", authz + "selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/x"}}}`, "status.allowed"},
		parityRequest{"POST", authz + "selfsubjectaccessreviews", `{"spec":{}}`, ""},
		parityRequest{"POST", authz + "selfsubjectaccessreviews", `x`, ""},
		parityRequest{"POST", authz + "selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"path":"/x"},"resourceAttributes":{"verb":"get"}}}`, ""},
		parityRequest{"GET", authz + "selfsubjectaccessreviews", ``, ""},
		parityRequest{"GET", authz + "selfsubjectaccessreviews/x", ``, ""},
		parityRequest{"DELETE", authz + "selfsubjectaccessreviews", ``, ""},
		parityRequest{"POST", authz + "namespaces/{ns}/selfsubjectaccessreviews", `{}`, ""},
		parityRequest{"POST", authz + "subjectaccessreviews", `{"spec":{"groups":["system:masters"],"user":"u","resourceAttributes":{"verb":"get","resource":"pods"}}}`, "status.allowed spec"},
		parityRequest{"POST", authz + "subjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, ""},
		parityRequest{"POST", authz + "subjectaccessreviews", `{"spec":{}}`, ""},
		parityRequest{"POST", authz + "localsubjectaccessreviews", `{}`, ""},
		parityRequest{"POST", authz + "namespaces/{ns}/localsubjectaccessreviews", `{"spec":{"groups":["system:masters"],"resourceAttributes":{"namespace":"{ns}","verb":"get","resource":"pods"}}}`, "status.allowed metadata.namespace"},
		parityRequest{"POST", authz + "namespaces/{ns}/localsubjectaccessreviews", `{"spec":{"user":"u","resourceAttributes":{"namespace":"other","verb":"get","resource":"pods"}}}`, ""},
		parityRequest{"POST", authz + "namespaces/{ns}/localsubjectaccessreviews", `{"metadata":{"namespace":"other"},"spec":{"user":"u","resourceAttributes":{"namespace":"other","verb":"get","resource":"pods"}}}`, ""},
		parityRequest{"POST", authz + "selfsubjectrulesreviews", `{"spec":{"namespace":"{ns}"}}`, "status.incomplete"},
		parityRequest{"POST", authz + "selfsubjectrulesreviews", `{"spec":{}}`, ""},
		parityRequest{"POST", authn + "tokenreviews", `{"spec":{}}`, ""},
		parityRequest{"POST", authn + "selfsubjectreviews", `{}`, "metadata.name"},
		parityRequest{"GET", authn + "selfsubjectreviews", ``, ""},
	)
}
