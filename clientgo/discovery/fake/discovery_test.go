package fake_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newFake() *fake.FakeDiscovery {
	return &fake.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Namespaced: true, Kind: "Pod"}}},
		{GroupVersion: "apps/v1beta1", APIResources: []metav1.APIResource{{Name: "olds", Kind: "Old"}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment"}}},
	}}}
}

func recordedActions(c *fake.FakeDiscovery) []string {
	var about []string
	for _, action := range c.Actions() {
		about = append(about, action.GetVerb()+" "+action.GetResource().Resource)
	}
	c.ClearActions()
	return about
}

func TestResultsComeFromTheResources(t *testing.T) {
	c := newFake()
	groups, err := c.ServerGroups()
	require.NoError(t, err)
	require.Len(t, groups.Groups, 2)
	require.Equal(t, "apps/v1beta1", groups.Groups[1].PreferredVersion.GroupVersion)
	require.Len(t, groups.Groups[1].Versions, 2)
	require.Equal(t, []string{"get group"}, recordedActions(c))

	list, err := c.ServerResourcesForGroupVersion("apps/v1")
	require.NoError(t, err)
	require.Same(t, c.Resources[2], list)
	_, err = c.ServerResourcesForGroupVersion("apps/v9")
	require.True(t, apierrors.IsNotFound(err))
	require.ErrorContains(t, err, `"apps/v9" not found`)
	require.Equal(t, []string{"get resource", "get resource"}, recordedActions(c))

	all, lists, err := c.ServerGroupsAndResources()
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, c.Resources, lists)
	require.Equal(t, []string{"get group", "get resource"}, recordedActions(c))

	// The functions of the package make their own requests.
	preferred, err := discovery.ServerPreferredResources(c)
	require.NoError(t, err)
	require.Len(t, preferred, 3)

	v, err := c.ServerVersion()
	require.NoError(t, err)
	require.NotEmpty(t, v.GitVersion)
	c.FakedServerVersion = &version.Info{Minor: "9"}
	v, err = c.ServerVersion()
	require.NoError(t, err)
	require.Equal(t, "9", v.Minor)
}

func TestReactorErrorsAreReturned(t *testing.T) {
	c := newFake()
	refused := errors.New("refused")
	c.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
	_, err := c.ServerGroups()
	require.NoError(t, err)
	_, _, err = c.ServerGroupsAndResources()
	require.ErrorIs(t, err, refused)
	_, err = c.ServerResourcesForGroupVersion("v1")
	require.ErrorIs(t, err, refused)
	_, err = discovery.IsResourceEnabled(c, metav1.SchemeGroupVersion.WithResource("x"))
	require.ErrorIs(t, err, refused)
	c.Resources = []*metav1.APIResourceList{{GroupVersion: "a/b/c"}}
	_, err = c.ServerGroups()
	require.Error(t, err)
}

func TestUnsupportedMethodsOfAFake(t *testing.T) {
	c := newFake()
	paths, err := c.OpenAPIV3().Paths()
	require.NoError(t, err)
	require.Empty(t, paths)
	require.Same(t, c, c.WithLegacy())
	require.Nil(t, c.RESTClient())
	document, err := c.OpenAPISchema()
	require.NoError(t, err)
	require.NotNil(t, document)
}
