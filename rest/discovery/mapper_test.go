package discovery_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

var gizmos = apitest.Resource{Group: "example.com", Version: "v1", Plural: "gizmos", Kind: "Gizmo", ShortNames: []string{"gz"}, Categories: []string{"all"}}

// withMapper runs a test in a synctest bubble, with a server and a mapper.
func withMapper(t *testing.T, test func(t *testing.T, s *apitest.Server, m *discovery.Mapper)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := apitest.New(apitest.Options{})
		defer s.Close()
		require.NoError(t, s.ListenMemory())
		client, err := rest.NewClient(rest.Config{Host: s.URL(), DialContext: s.DialContext}, rest.Options{})
		require.NoError(t, err)
		defer client.Close()
		test(t, s, discovery.NewMapper(client, discovery.MapperOptions{}))
	})
}

func requireNotFound(t *testing.T, err error) {
	t.Helper()
	var unknown *discovery.NotFoundError
	require.ErrorAs(t, err, &unknown)
}

func TestMapperFindsByNameKindAndCategory(t *testing.T) {
	t.Parallel()
	withMapper(t, func(t *testing.T, _ *apitest.Server, m *discovery.Mapper) {
		ctx := t.Context()
		require.Zero(t, m.Stats())
		for _, name := range []string{"deployments", "deployment", "deploy", "Deployment", "deployments.apps", "deployments.v1.apps"} {
			r, err := m.Find(ctx, name)
			require.NoError(t, err)
			require.Equal(t, "deployments.apps", r.String())
		}
		r, err := m.FindKind(ctx, schema.GroupVersionKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"})
		require.NoError(t, err)
		require.Equal(t, "v2", r.Version, "without a version, FindKind must return the preferred version")
		r, err = m.FindKind(ctx, schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"})
		require.NoError(t, err)
		require.Equal(t, "v1", r.Version)
		_, err = m.FindKind(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Deployment"})
		require.EqualError(t, err, `the server has no resource "Deployment.v1": did you mean deployments.apps?`)

		all, err := m.FindCategory(ctx, "ALL")
		require.NoError(t, err)
		var names []string
		for _, r := range all {
			names = append(names, r.String())
		}
		require.Equal(t, []string{"pods", "replicationcontrollers", "services", "daemonsets.apps", "deployments.apps", "replicasets.apps",
			"statefulsets.apps", "horizontalpodautoscalers.autoscaling", "cronjobs.batch", "jobs.batch"}, names)
		_, err = m.FindCategory(ctx, "none")
		requireNotFound(t, err)

		resources, err := m.Resources(ctx)
		require.NoError(t, err)
		stats := m.Stats()
		require.Equal(t, len(resources), stats.Resources)
		require.EqualValues(t, 1, stats.Discoveries)
		require.Equal(t, time.Now(), stats.DiscoveredAt)
	})
}

// TestMapperCategoryHasResourcesOfAllVersions: a category includes resources that only a
// non-preferred version of their group has. client-go's restmapper.NewDiscoveryCategoryExpander
// includes these resources as well.
func TestMapperCategoryHasResourcesOfAllVersions(t *testing.T) {
	t.Parallel()
	withMapper(t, func(t *testing.T, s *apitest.Server, m *discovery.Mapper) {
		for _, r := range []apitest.Resource{
			{Group: "example.com", Version: "v1", Plural: "widgets", Kind: "Widget", Categories: []string{"toys"}},
			{Group: "example.com", Version: "v1alpha1", Plural: "widgets", Kind: "Widget", Categories: []string{"toys", "old"}},
			{Group: "example.com", Version: "v1alpha1", Plural: "gadgets", Kind: "Gadget", Categories: []string{"toys"}},
		} {
			require.NoError(t, s.AddResource(r))
		}
		found, err := m.FindCategory(t.Context(), "toys")
		require.NoError(t, err)
		var names []string
		for _, r := range found {
			names = append(names, r.GVR().String())
		}
		require.ElementsMatch(t, []string{"example.com/v1, Resource=widgets", "example.com/v1alpha1, Resource=gadgets"}, names)
		_, err = m.FindCategory(t.Context(), "old")
		requireNotFound(t, err) // the category lacks the preferred version of the resource
		r, err := m.Find(t.Context(), "gadgets")
		require.NoError(t, err)
		require.True(t, r.Preferred)
	})
}

func TestMapperErrorForMissingKind(t *testing.T) {
	t.Parallel()
	withMapper(t, func(t *testing.T, _ *apitest.Server, m *discovery.Mapper) {
		for want, kind := range map[string]schema.GroupVersionKind{
			"New.example.com":    {Group: "example.com", Kind: "New"},
			"New.v1.example.com": {Group: "example.com", Version: "v1", Kind: "New"},
			"New.v1":             {Version: "v1", Kind: "New"},
			"New":                {Kind: "New"},
		} {
			_, err := m.FindKind(t.Context(), kind)
			require.ErrorContains(t, err, `no resource "`+want+`"`)
		}
	})
}

func TestMapperRefreshesOnMissWithRateLimit(t *testing.T) {
	t.Parallel()
	withMapper(t, func(t *testing.T, s *apitest.Server, m *discovery.Mapper) {
		ctx := t.Context()
		_, err := m.Find(ctx, "gizmos")
		requireNotFound(t, err)
		require.NoError(t, s.AddResource(gizmos))
		_, err = m.Find(ctx, "gizmos")
		requireNotFound(t, err)
		require.EqualValues(t, 1, m.Stats().Discoveries, "within RefreshInterval, a search must not run a second discovery")

		time.Sleep(10 * time.Second)
		_, err = m.Find(ctx, "pods")
		require.NoError(t, err)
		require.EqualValues(t, 1, m.Stats().Discoveries, "a search that finds a resource must not run a discovery")
		r, err := m.Find(ctx, "gz")
		require.NoError(t, err)
		require.Equal(t, "gizmos.example.com", r.String())
		require.EqualValues(t, 2, m.Stats().Discoveries)
		_, err = m.FindKind(ctx, schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gizmo"})
		require.NoError(t, err)
		for range 100 {
			_, err = m.Find(ctx, "nonsense")
			requireNotFound(t, err)
		}
		require.EqualValues(t, 2, m.Stats().Discoveries)
		require.NoError(t, m.Refresh(ctx))
		require.EqualValues(t, 3, m.Stats().Discoveries, "Refresh must run a discovery within RefreshInterval")
	})
}

func TestMapperRefreshesOnceForConcurrentCallers(t *testing.T) {
	t.Parallel()
	withMapper(t, func(t *testing.T, s *apitest.Server, m *discovery.Mapper) {
		s.Inject(apitest.Fault{Verb: "discovery", Times: 1, Action: apitest.Delay(5 * time.Second)})
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				_, err := m.Find(t.Context(), "pods")
				require.NoError(t, err)
				if i%2 == 0 {
					_, err = m.Find(t.Context(), "nonsense")
					requireNotFound(t, err)
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 1, m.Stats().Discoveries)
	})
}

func TestMapperRefreshAfterCancelledCaller(t *testing.T) {
	t.Parallel()
	withMapper(t, func(t *testing.T, s *apitest.Server, m *discovery.Mapper) {
		s.Inject(apitest.Fault{Verb: "discovery", Times: 1, Action: apitest.Delay(time.Hour)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			_, err := m.Find(ctx, "pods")
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		impatient, stop := context.WithTimeout(t.Context(), time.Second/2)
		defer stop()
		start := time.Now()
		_, err := m.Find(impatient, "pods")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second/2, time.Since(start), "a caller that waits for another caller's discovery must return when its context ends")
		_, err = m.Find(t.Context(), "pods")
		require.NoError(t, err)
		group.Wait()
		require.EqualValues(t, 2, m.Stats().Discoveries)
	})
}

func TestMapperKeepsResourcesOfFailedParts(t *testing.T) {
	t.Parallel()
	withMapper(t, func(t *testing.T, s *apitest.Server, m *discovery.Mapper) {
		ctx := t.Context()
		down := s.Inject(apitest.Fault{Verb: "discovery", Action: apitest.Code(http.StatusForbidden, 0)})
		_, err := m.Find(ctx, "pods")
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		require.NotContains(t, err.Error(), "has no resource", "without a successful discovery, the error must not say that the resource is missing")
		_, err = m.Resources(ctx)
		require.True(t, apierrors.IsForbidden(err))
		require.EqualValues(t, 1, m.Stats().Discoveries, "within RefreshInterval, a failed discovery must not be repeated")
		require.Error(t, m.Stats().Err)
		down.Remove()

		time.Sleep(10 * time.Second)
		_, err = m.Find(ctx, "pods")
		require.NoError(t, err)
		before, err := m.Resources(ctx)
		require.NoError(t, err)

		for _, path := range []string{"/api", "/apis"} {
			fault := s.Inject(apitest.Fault{Action: apitest.Code(http.StatusForbidden, 0), Match: func(r apitest.Request) bool { return r.HTTP.URL.Path == path }})
			require.True(t, apierrors.IsForbidden(m.Refresh(ctx)))
			after, err := m.Resources(ctx)
			require.True(t, apierrors.IsForbidden(err))
			require.Equal(t, before, after)
			_, err = m.Find(ctx, "nonsense")
			requireNotFound(t, err)
			require.True(t, apierrors.IsForbidden(err), "the missing resource may be in the failed part, so the error must name the part")
			require.ErrorContains(t, err, `has no resource "nonsense"`)
			require.ErrorContains(t, err, "but API discovery is incomplete: "+path+": ")
			fault.Remove()
		}
	})
}

// TestMapperWithoutAnInterval: a negative RefreshInterval means no limit.
func TestMapperWithoutAnInterval(t *testing.T) {
	t.Parallel()
	m := discovery.NewMapper(newServer(t, false, nil).client(t), discovery.MapperOptions{RefreshInterval: -1})
	for range 3 {
		_, err := m.Find(t.Context(), "nonsense")
		requireNotFound(t, err)
	}
	require.EqualValues(t, 3, m.Stats().Discoveries)
}

func TestMapperKeepsAGroupWhoseServerIsDown(t *testing.T) {
	t.Parallel()
	faults := map[string]http.HandlerFunc{}
	s := newServer(t, false, faults)
	m := discovery.NewMapper(s.client(t), discovery.MapperOptions{RefreshInterval: time.Nanosecond})
	r, err := m.Find(t.Context(), "deploy")
	require.NoError(t, err)
	s.mu.Lock()
	faults["/apis/apps/v1"] = status(http.StatusServiceUnavailable)
	s.mu.Unlock()
	require.True(t, apierrors.IsServiceUnavailable(m.Refresh(t.Context())))
	again, err := m.Find(t.Context(), "deploy")
	require.NoError(t, err)
	require.Equal(t, r, again)
	hpa, err := m.Find(t.Context(), "hpa")
	require.NoError(t, err)
	require.Equal(t, "v2", hpa.Version)
}
