// Package watchlist says whether a list can be a streaming list (KEP-3157), which is a watch that begins with all
// objects.
package watchlist

import (
	"k8s.io/client-go/features"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PrepareWatchListOptionsFromListOptions returns the options of a watch that begins with the objects of this list. It
// returns false if there is none: the feature WatchListClient is off, or the list is a page of one, or of exactly one
// version. The error is nil.
func PrepareWatchListOptionsFromListOptions(listOptions metav1.ListOptions) (metav1.ListOptions, bool, error) {
	if !features.FeatureGates().Enabled(features.WatchListClient) {
		return metav1.ListOptions{}, false, nil
	}
	// A server takes a list with a limit and a version for one of exactly that version (KEP-2523).
	exact := listOptions.ResourceVersionMatch == metav1.ResourceVersionMatchExact ||
		listOptions.ResourceVersionMatch == "" && listOptions.Limit > 0 && listOptions.ResourceVersion != "" && listOptions.ResourceVersion != "0"
	if listOptions.Continue != "" || exact {
		return metav1.ListOptions{}, false, nil
	}
	all := true
	options := listOptions
	options.Limit = 0
	options.SendInitialEvents = &all
	options.AllowWatchBookmarks = true
	options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	return options, true, nil
}

// DoesClientNotSupportWatchListSemantics is true if the client says so, by a method IsWatchListSemanticsUnSupported. A
// fake that ignores SendInitialEvents should have it.
func DoesClientNotSupportWatchListSemantics(client any) bool {
	c, ok := client.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && c.IsWatchListSemanticsUnSupported()
}
