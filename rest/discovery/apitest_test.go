package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

// discoverMemory starts a server on an in-memory network, and returns its resources.
func discoverMemory(t *testing.T, opts apitest.Options) []discovery.Resource {
	t.Helper()
	opts.Resources = []apitest.Resource{
		{Group: "example.com", Version: "v1", Plural: "widgets", Singular: "widget", Kind: "Widget", ShortNames: []string{"wd"}, Status: true},
	}
	s := apitest.New(opts)
	t.Cleanup(s.Close)
	require.NoError(t, s.ListenMemory())
	client, err := rest.NewClient(rest.Config{Host: s.URL(), DialContext: s.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)

	resources, err := discovery.Resources(t.Context(), client)
	require.NoError(t, err)
	return resources
}

func TestAggregatedEqualsLegacyOnTestServer(t *testing.T) {
	t.Parallel()
	resources := discoverMemory(t, apitest.Options{})
	require.Equal(t, resources, discoverMemory(t, apitest.Options{NoAggregatedDiscovery: true}))

	for name, want := range map[string]string{
		"po":                    "pods",
		"Pod":                   "pods",
		"deploy":                "deployments.apps",
		"deployments.v1.apps":   "deployments.apps",
		"ev":                    "events",
		"wd":                    "widgets.example.com",
		"Widget.v1.example.com": "widgets.example.com",
		"crd":                   "customresourcedefinitions.apiextensions.k8s.io",
	} {
		r, err := discovery.Find(resources, name)
		require.NoError(t, err)
		require.Equal(t, want, r.String())
		require.Contains(t, r.Verbs, "watch")
	}
}
