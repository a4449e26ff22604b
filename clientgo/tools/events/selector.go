package events

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	eventsv1beta1 "k8s.io/api/events/v1beta1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// GetFieldSelector returns the field selector of events about an object, in this version of events.
// The selector omits empty arguments.
func GetFieldSelector(eventsGroupVersion schema.GroupVersion, regardingGroupVersionKind schema.GroupVersionKind, regardingName string, regardingUID types.UID) (fields.Selector, error) {
	var about string
	switch eventsGroupVersion {
	case corev1.SchemeGroupVersion:
		about = "involvedObject"
	case eventsv1.SchemeGroupVersion, eventsv1beta1.SchemeGroupVersion:
		about = "regarding"
	default:
		return nil, fmt.Errorf("unknown version %v", eventsGroupVersion)
	}
	set := fields.Set{}
	for field, value := range map[string]string{
		"name":       regardingName,
		"uid":        string(regardingUID),
		"kind":       regardingGroupVersionKind.Kind,
		"apiVersion": regardingGroupVersionKind.GroupVersion().String(),
	} {
		if value != "" {
			set[about+"."+field] = value
		}
	}
	return set.AsSelector(), nil
}
