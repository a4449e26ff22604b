package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/discovery"
)

func TestFindAcceptsKubectlNames(t *testing.T) {
	t.Parallel()
	resources := canned(t)
	tests := []struct{ name, want string }{
		{"pods", "v1 pods"},
		{"po", "v1 pods"},
		{"pod", "v1 pods"},
		{"Pod", "v1 pods"},
		{"POD", "v1 pods"},
		{"pods.v1.", "v1 pods"},
		{"pods.", "v1 pods"},
		{"pods.metrics.k8s.io", "metrics.k8s.io/v1beta1 pods"},
		{"PodMetrics", "metrics.k8s.io/v1beta1 pods"},
		{"deployments.apps", "apps/v1 deployments"},
		{"deployments.v1.apps", "apps/v1 deployments"},
		{"deployment.v1.apps", "apps/v1 deployments"},
		{"Deployment.apps", "apps/v1 deployments"},
		{"deploy", "apps/v1 deployments"},
		{"deploy.apps", "apps/v1 deployments"},
		{"certificates.cert-manager.io", "cert-manager.io/v1 certificates"},
		{"certificates.v1.cert-manager.io", "cert-manager.io/v1 certificates"},
		{"Certificate.v1.cert-manager.io", "cert-manager.io/v1 certificates"},
		{"certs", "cert-manager.io/v1 certificates"},
		{"ingresses.networking", "networking.k8s.io/v1 ingresses"},
		{"ingresses.v1.networking", "networking.k8s.io/v1 ingresses"},

		// If several resources match, the core group and a preferred version take precedence.
		{"events", "v1 events"},
		{"ev", "v1 events"},
		{"events.events.k8s.io", "events.k8s.io/v1 events"},
		{"ev.events", "events.k8s.io/v1 events"},
		{"hpa", "autoscaling/v2 horizontalpodautoscalers"},
		{"hpa.v1.autoscaling", "autoscaling/v1 horizontalpodautoscalers"},
		{"widgets", "old.example.com/v2 widgets"},
		{"gadgets", "old.example.com/v1 gadgets"}, // the group's v2 lacks gadgets
		{"gadgets.old.example.com", "old.example.com/v1 gadgets"},
		{"nodes", "metrics.k8s.io/v1beta1 nodes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := discovery.Find(resources, tt.name)
			require.NoError(t, err)
			require.Equal(t, tt.want, r.GVR().GroupVersion().String()+" "+r.Plural)
		})
	}
}

func TestNamesPrecedeShortNamesAndKinds(t *testing.T) {
	t.Parallel()
	byKind := discovery.Resource{Group: "a", Version: "v1", Plural: "kinds", Singular: "kindx", Kind: "Thing", Preferred: true}
	byShort := discovery.Resource{Group: "b", Version: "v1", Plural: "shorts", Singular: "short", Kind: "Short", ShortNames: []string{"thing"}, Preferred: true}
	byName := discovery.Resource{Group: "c", Version: "v1", Plural: "things", Singular: "thing", Kind: "Other"}

	r, err := discovery.Find([]discovery.Resource{byKind, byShort, byName}, "Thing")
	require.NoError(t, err)
	require.Equal(t, byName, r)
	r, err = discovery.Find([]discovery.Resource{byKind, byShort}, "thing")
	require.NoError(t, err)
	require.Equal(t, byShort, r)
	r, err = discovery.Find([]discovery.Resource{byKind}, "thing")
	require.NoError(t, err)
	require.Equal(t, byKind, r)
}

func TestWholeGroupPrecedesGroupPrefix(t *testing.T) {
	t.Parallel()
	longer := discovery.Resource{Group: "shop.example.com", Version: "v1", Plural: "orders", Singular: "order", Kind: "Order", Preferred: true}
	whole := discovery.Resource{Group: "shop", Version: "v1", Plural: "orders", Singular: "order", Kind: "Order"}

	r, err := discovery.Find([]discovery.Resource{longer, whole}, "orders.shop")
	require.NoError(t, err)
	require.Equal(t, whole, r)
	r, err = discovery.Find([]discovery.Resource{longer}, "orders.shop")
	require.NoError(t, err)
	require.Equal(t, longer, r)
	_, err = discovery.Find([]discovery.Resource{longer}, "orders.")
	require.Error(t, err, "an empty group must mean the core group, not the beginning of every group")
}

func TestUnknownNameSuggestsSimilarNames(t *testing.T) {
	t.Parallel()
	resources := canned(t)
	tests := []struct {
		name string
		want []string
	}{
		{"pds", []string{"pods", "pods.metrics.k8s.io"}},
		{"depoyments", []string{"deployments.apps"}},
		{"deployments.extensions", []string{"deployments.apps"}},
		{"deploy.extensions", []string{"deployments.apps"}},
		{"deployments.v2.apps", []string{"deployments.apps"}},
		{"cert-manager", nil},
		{"horizontal", []string{"horizontalpodautoscalers.autoscaling"}},
		{"sevices", []string{"services"}},
		{"widgest.v1.example", []string{"widgets.old.example.com"}},
		{"", nil},
		{".", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := discovery.Find(resources, tt.name)
			var unknown *discovery.NotFoundError
			require.ErrorAs(t, err, &unknown)
			require.Equal(t, tt.name, unknown.Name)
			require.Equal(t, tt.want, unknown.Similar)
		})
	}

	_, err := discovery.Find(resources, "pds")
	require.EqualError(t, err, `the server has no resource "pds": did you mean pods or pods.metrics.k8s.io?`)
	_, err = discovery.Find(nil, "pods")
	require.EqualError(t, err, `the server has no resource "pods": kubectl api-resources lists all resources`)
}

func TestEveryResourceIsFoundByItsOwnName(t *testing.T) {
	t.Parallel()
	resources := canned(t)
	for _, r := range resources {
		found, err := discovery.Find(resources, r.String())
		require.NoError(t, err)
		require.Equal(t, r.String(), found.String())

		found, err = discovery.Find(resources, r.Plural+"."+r.Version+"."+r.Group)
		require.NoError(t, err)
		require.Equal(t, r, found)
	}
}
