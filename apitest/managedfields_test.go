package apitest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/apitest"
)

const (
	applyPatch      = "application/apply-patch+yaml"
	deploymentsPath = "/apis/apps/v1/namespaces/a/deployments"
)

// ownersOf lists the managed fields of an object: manager, operation, subresource, fields.
func ownersOf(obj metav1.Object) (all []string) {
	for _, e := range obj.GetManagedFields() {
		all = append(all, strings.Join([]string{e.Manager, string(e.Operation), e.Subresource, e.FieldsV1.GetRawString()}, " "))
	}
	slices.Sort(all)
	return all
}

// TestSubresourceStoresNoManagedFields: managed fields in a write to a subresource have no effect,
// whether the server tracks fields or not.
func TestSubresourceStoresNoManagedFields(t *testing.T) {
	t.Parallel()
	const sent = `[{"manager":"me","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:paused":{}}}}]`
	for _, live := range []string{"null", strings.ReplaceAll(sent, "me", "other")} {
		for name, own := range map[string]string{"some": sent, "reset": `[{}]`, "none": `[]`, "null": "null"} {
			t.Run(name+" for "+live[:4], func(t *testing.T) {
				t.Parallel()
				_, c := start(t, apitest.Options{})
				c.do(t, http.StatusCreated, "POST", deploymentsPath, `{"metadata":{"name":"d","managedFields":`+live+`},"spec":{"replicas":1}}`)
				before := ownersOf(new(get[appsv1.Deployment](t, c, deploymentsPath+"/d")))
				c.do(t, http.StatusOK, "PUT", deploymentsPath+"/d/status", `{"metadata":{"name":"d","managedFields":`+own+`},"status":{"replicas":1}}`)
				require.Equal(t, before, ownersOf(new(get[appsv1.Deployment](t, c, deploymentsPath+"/d"))))
				c.do(t, http.StatusOK, "PATCH", deploymentsPath+"/d/status", `{"metadata":{"managedFields":`+own+`},"status":{"replicas":2}}`, "Content-Type", mergePatch)
				require.Equal(t, before, ownersOf(new(get[appsv1.Deployment](t, c, deploymentsPath+"/d"))))
			})
		}
	}
}

// TestUndecodableManagedFieldsAreNotStored: if the server stored undecodable managed fields, the
// first apply would fail.
func TestUndecodableManagedFieldsAreNotStored(t *testing.T) {
	t.Parallel()
	const bad = `"managedFields":[{"manager":"me","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"x":1}}]`
	for _, always := range []bool{false, true} {
		_, c := start(t, apitest.Options{ManagedFields: always})
		c.do(t, http.StatusCreated, "POST", mapsPath, `{"metadata":{"name":"m",`+bad+`}}`)
		require.Empty(t, get[corev1.ConfigMap](t, c, mapsPath+"/m").ManagedFields)
		c.do(t, http.StatusOK, "PUT", mapsPath+"/m", `{"metadata":{"name":"m",`+bad+`},"data":{"x":"1"}}`)
		require.Empty(t, get[corev1.ConfigMap](t, c, mapsPath+"/m").ManagedFields)
		c.do(t, http.StatusOK, "PATCH", mapsPath+"/m?fieldManager=a", `{"apiVersion":"v1","kind":"ConfigMap","data":{"x":"1"}}`, "Content-Type", applyPatch)
	}
}

// TestScaleIsTracked: a client that changes the scale, such as "kubectl scale" or an autoscaler,
// becomes the owner of the replicas.
func TestScaleIsTracked(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	patch := func(code int, path, body string, contentType string) []byte {
		t.Helper()
		return c.do(t, code, "PATCH", deploymentsPath+path, body, "Content-Type", contentType)
	}
	owners := func() []string {
		t.Helper()
		return ownersOf(new(get[appsv1.Deployment](t, c, deploymentsPath+"/d")))
	}
	const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1}}`
	const replicas = `{"f:spec":{"f:replicas":{}}}`
	patch(http.StatusCreated, "/d?fieldManager=a", deployment, applyPatch)
	require.Equal(t, []string{"a Apply  " + replicas}, owners())
	patch(http.StatusOK, "/d/scale?fieldManager=kubectl", `{"spec":{"replicas":2}}`, mergePatch)
	require.Equal(t, []string{"kubectl Update scale " + replicas}, owners())
	require.Contains(t, c.fails(t, http.StatusConflict, "PATCH", deploymentsPath+"/d?fieldManager=a", deployment, "Content-Type", applyPatch).Message,
		`conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas`)

	const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"},"spec":{"replicas":3}}`
	c.fails(t, http.StatusConflict, "PATCH", deploymentsPath+"/d/scale?fieldManager=b", scale, "Content-Type", applyPatch)
	scaled := decode[autoscalingv1.Scale](t, patch(http.StatusOK, "/d/scale?fieldManager=b&force=true", scale, applyPatch))
	require.EqualValues(t, 3, scaled.Spec.Replicas)
	require.Equal(t, []string{"b Apply scale " + replicas}, owners())
	stored := get[appsv1.Deployment](t, c, deploymentsPath+"/d")
	require.EqualValues(t, 3, *stored.Spec.Replicas)
	require.EqualValues(t, 3, stored.Generation)

	patch(http.StatusOK, "/d/scale?fieldManager=b&dryRun=All", strings.ReplaceAll(scale, "3}", "4}"), applyPatch)
	require.EqualValues(t, 3, get[autoscalingv1.Scale](t, c, deploymentsPath+"/d/scale").Spec.Replicas)
	c.fails(t, http.StatusUnprocessableEntity, "PATCH", deploymentsPath+"/d/scale?fieldManager=b", strings.ReplaceAll(scale, "3}", "-3}"), "Content-Type", applyPatch)
	c.fails(t, http.StatusBadRequest, "PATCH", deploymentsPath+"/d/scale?fieldManager=b", deployment, "Content-Type", applyPatch)
	c.fails(t, http.StatusNotFound, "PATCH", deploymentsPath+"/none/scale?fieldManager=b", strings.ReplaceAll(scale, `"d"`, `"none"`), "Content-Type", applyPatch)
	patch(http.StatusOK, "/d/scale?fieldManager=b", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d"}}`, applyPatch)
	require.Empty(t, owners(), "no manager must own the replicas")
}

func TestScaleOfACustomResourceIsTracked(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{ManagedFields: true})
	c.do(t, http.StatusCreated, "POST", definitionsPath, strings.Replace(gadgets, `"subresources":{`,
		`"subresources":{"scale":{"specReplicasPath":".spec.size.wanted","statusReplicasPath":".status.size"},`, 1))
	c.do(t, http.StatusCreated, "POST", gadgetsPath+"?fieldManager=me", gadget)
	const scale = `{"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":3}}`
	c.do(t, http.StatusOK, "PATCH", gadgetsPath+"/g/scale?fieldManager=b", scale, "Content-Type", applyPatch)
	stored := get[unstructured.Unstructured](t, c, gadgetsPath+"/g")
	size, _, err := unstructured.NestedInt64(stored.Object, "spec", "size", "wanted")
	require.NoError(t, err)
	require.EqualValues(t, 3, size)
	require.Equal(t, []string{`b Apply scale {"f:spec":{".":{},"f:size":{".":{},"f:wanted":{}}}}`, `me Update  {"f:spec":{".":{},"f:color":{}}}`}, ownersOf(&stored))
}

// TestFieldsThatASubresourceDoesNotWriteHaveNoNewOwner: a write to a subresource may contain fields
// that the server does not store. They get no owner.
func TestFieldsThatASubresourceDoesNotWriteHaveNoNewOwner(t *testing.T) {
	t.Parallel()
	const body = `"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"x","resources":{"requests":{"cpu":"2"}}}],
		"ephemeralContainers":[{"name":"d","image":"x"}]},"status":{"phase":"Running"}`
	const debug = `f:ephemeralContainers":{"k:{\"name\":\"d\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}`
	for subresource, want := range map[string]string{
		"ephemeralcontainers": `{"f:spec":{"` + debug + `}}}}`,
		"resize":              `{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{"f:resources":{"f:requests":{"f:cpu":{}}}}}}}`,
		"status":              `{"f:status":{"f:phase":{}}}`,
	} {
		t.Run(subresource, func(t *testing.T) {
			t.Parallel()
			_, c := start(t, apitest.Options{ManagedFields: true})
			owners := func() string {
				pod := get[corev1.Pod](t, c, podsPath+"/p")
				return strings.Join(ownersOf(&pod), "\n")
			}
			c.do(t, http.StatusCreated, "POST", podsPath+"?fieldManager=me", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"x","resources":{"requests":{"cpu":"1"}}}]}}`)
			at := podsPath + "/p/" + subresource + "?fieldManager=you"
			c.do(t, http.StatusOK, "PATCH", at, "{"+body+"}", "Content-Type", "application/strategic-merge-patch+json")
			require.Contains(t, strings.ReplaceAll(owners(), `"f:ephemeralContainers":{".":{},`, `"f:ephemeralContainers":{`), "you Update "+subresource+" "+want)
			for _, unwritten := range []string{"f:labels", "f:nodeName"} {
				require.NotContains(t, owners(), unwritten)
			}
		})
	}
}
