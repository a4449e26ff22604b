package contracts

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// staleGroups is a client that returns groups together with an error, like a cache whose server
// does not respond.
type staleGroups struct{ discovery.DiscoveryInterface }

func (staleGroups) ServerGroups() (*metav1.APIGroupList, error) {
	v1 := metav1.GroupVersionForDiscovery{GroupVersion: "apps/v1", Version: "v1"}
	return &metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "apps", Versions: []metav1.GroupVersionForDiscovery{v1}, PreferredVersion: v1}}}, errors.New("E")
}

func (staleGroups) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	return &metav1.APIResourceList{GroupVersion: gv, APIResources: []metav1.APIResource{{Name: "deployments"}}}, nil
}

func TestGroupsReturnedWithAnErrorAreUsed(t *testing.T) {
	groups, lists, err := discovery.ServerGroupsAndResources(staleGroups{})
	require.NoError(t, err)
	require.Len(t, groups, 1)
	require.Len(t, lists, 1)
	_, err = discovery.ServerPreferredResources(staleGroups{})
	require.EqualError(t, err, "E")
}
