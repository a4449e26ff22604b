package discovery

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// IsResourceEnabled reports whether a server has a resource. It returns false if the server does
// not have the group version.
func IsResourceEnabled(client DiscoveryInterface, resourceToCheck schema.GroupVersionResource) (bool, error) {
	list, err := client.ServerResourcesForGroupVersion(resourceToCheck.GroupVersion().String())
	if err != nil {
		return false, ignoreNotFound(err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resourceToCheck.Resource }), nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// MatchesServerVersion returns an error unless the server was built from the same commit as the
// client.
func MatchesServerVersion(clientVersion version.Info, client DiscoveryInterface) error {
	server, err := client.ServerVersion()
	if err != nil {
		return fmt.Errorf("couldn't read version from server: %w", err)
	}
	if server.GitVersion != clientVersion.GitVersion || server.GitCommit != clientVersion.GitCommit || server.GitTreeState != clientVersion.GitTreeState {
		return fmt.Errorf("server version (%#v) differs from client version (%#v)", *server, clientVersion)
	}
	return nil
}

// ServerSupportsVersion returns an error unless the server has the group version.
func ServerSupportsVersion(client DiscoveryInterface, requiredGV schema.GroupVersion) error {
	groups, err := client.ServerGroups()
	if err != nil {
		return fmt.Errorf("could not negotiate a compatible API version: %w", err)
	}
	for i := range groups.Groups {
		for _, v := range groups.Groups[i].Versions {
			if v.GroupVersion == requiredGV.String() {
				return nil
			}
		}
	}
	return fmt.Errorf("server does not support API version %q", requiredGV)
}
