package e2e_test

import "testing"

// A user who has all permissions sends the requests to both servers.
func TestParityReviews(t *testing.T) {
	const authz, authn = "/apis/authorization.k8s.io/v1/", "/apis/authentication.k8s.io/v1/"
	asked(t,
		question{"POST", authz + "selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods","namespace":"{ns}"}}}`, "status.allowed spec.resourceAttributes metadata.name"},
		question{"POST", authz + "selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"verb":"get","path":"/x"}}}`, "status.allowed"},
		question{"POST", authz + "selfsubjectaccessreviews", `{"spec":{}}`, ""},
		question{"POST", authz + "selfsubjectaccessreviews", `x`, ""},
		question{"POST", authz + "selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"path":"/x"},"resourceAttributes":{"verb":"get"}}}`, ""},
		question{"GET", authz + "selfsubjectaccessreviews", ``, ""},
		question{"GET", authz + "selfsubjectaccessreviews/x", ``, ""},
		question{"DELETE", authz + "selfsubjectaccessreviews", ``, ""},
		question{"POST", authz + "namespaces/{ns}/selfsubjectaccessreviews", `{}`, ""},
		question{"POST", authz + "subjectaccessreviews", `{"spec":{"groups":["system:masters"],"user":"u","resourceAttributes":{"verb":"get","resource":"pods"}}}`, "status.allowed spec"},
		question{"POST", authz + "subjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, ""},
		question{"POST", authz + "subjectaccessreviews", `{"spec":{}}`, ""},
		question{"POST", authz + "localsubjectaccessreviews", `{}`, ""},
		question{"POST", authz + "namespaces/{ns}/localsubjectaccessreviews", `{"spec":{"groups":["system:masters"],"resourceAttributes":{"namespace":"{ns}","verb":"get","resource":"pods"}}}`, "status.allowed metadata.namespace"},
		question{"POST", authz + "namespaces/{ns}/localsubjectaccessreviews", `{"spec":{"user":"u","resourceAttributes":{"namespace":"other","verb":"get","resource":"pods"}}}`, ""},
		question{"POST", authz + "namespaces/{ns}/localsubjectaccessreviews", `{"metadata":{"namespace":"other"},"spec":{"user":"u","resourceAttributes":{"namespace":"other","verb":"get","resource":"pods"}}}`, ""},
		question{"POST", authz + "selfsubjectrulesreviews", `{"spec":{"namespace":"{ns}"}}`, "status.incomplete"},
		question{"POST", authz + "selfsubjectrulesreviews", `{"spec":{}}`, ""},
		question{"POST", authn + "tokenreviews", `{"spec":{}}`, ""},
		question{"POST", authn + "selfsubjectreviews", `{}`, "metadata.name"},
		question{"GET", authn + "selfsubjectreviews", ``, ""},
	)
}
