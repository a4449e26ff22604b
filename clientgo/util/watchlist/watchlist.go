// Package watchlist decides whether a list can be a streaming list (KEP-3157): a watch that begins
// with all existing objects.
package watchlist

import (
	"k8s.io/client-go/features"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// PrepareWatchListOptionsFromListOptions converts the options of a list to the options of a
// streaming list. It returns false if the feature WatchListClient is off. It also returns false if
// the list is a page, has an exact version, or would be rejected by a server. It returns an error
// for an invalid selector.
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
	// A list with a limit is a page, and pages are read from etcd. An exception is a list at
	// version "0", which comes from the server's cache and has no pages (KEP-2523).
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

// valid reports whether a server accepts the options of a list or a watch.
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

// DoesClientNotSupportWatchListSemantics returns the result of the client's method
// IsWatchListSemanticsUnSupported. It returns false if the client has no such method. A fake that
// ignores SendInitialEvents should have the method.
func DoesClientNotSupportWatchListSemantics(client any) bool {
	c, ok := client.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && c.IsWatchListSemanticsUnSupported()
}
