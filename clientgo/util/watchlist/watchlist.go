// Package watchlist says whether a list can be a streaming list (KEP-3157), which is a watch that begins with all
// objects.
package watchlist

import (
	"k8s.io/client-go/features"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// PrepareWatchListOptionsFromListOptions returns the options of a watch that begins with the objects of this list. It
// returns false if there is none: the feature WatchListClient is off, or the list is a page of one, or of exactly one
// version, or none that a server takes. A selector that cannot be read is an error.
func PrepareWatchListOptionsFromListOptions(listOptions metav1.ListOptions) (metav1.ListOptions, bool, error) {
	if !features.FeatureGates().Enabled(features.WatchListClient) {
		return metav1.ListOptions{}, false, nil
	}
	if _, err := labels.Parse(listOptions.LabelSelector); err != nil {
		return metav1.ListOptions{}, false, err
	}
	if _, err := fields.ParseSelector(listOptions.FieldSelector); err != nil {
		return metav1.ListOptions{}, false, err
	}
	// A server takes a list with a limit for a page of one version (KEP-2523), but for one of its cache, where it has none.
	page := listOptions.Limit > 0 && listOptions.ResourceVersion != "0" || listOptions.Continue != ""
	if page || listOptions.ResourceVersionMatch == metav1.ResourceVersionMatchExact || !valid(&listOptions) {
		return metav1.ListOptions{}, false, nil
	}
	all := true
	options := listOptions
	options.Watch = true
	options.Limit = 0
	options.SendInitialEvents = &all
	options.AllowWatchBookmarks = true
	options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	return options, true, nil
}

// valid reports whether a server takes the options, be they of a list or of a watch.
func valid(options *metav1.ListOptions) bool {
	newer := options.ResourceVersionMatch == metav1.ResourceVersionMatchNotOlderThan
	switch {
	case options.Watch:
		return newer == (options.SendInitialEvents != nil) && (newer || options.ResourceVersionMatch == "")
	case options.SendInitialEvents != nil:
		return false
	}
	return options.ResourceVersionMatch == "" || newer && options.ResourceVersion != ""
}

// DoesClientNotSupportWatchListSemantics is true if the client says so, by a method IsWatchListSemanticsUnSupported. A
// fake that ignores SendInitialEvents should have it.
func DoesClientNotSupportWatchListSemantics(client any) bool {
	c, ok := client.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && c.IsWatchListSemanticsUnSupported()
}
