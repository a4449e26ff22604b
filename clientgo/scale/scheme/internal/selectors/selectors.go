// Package selectors converts the label selectors of scales. New versions of Scale have the selector
// as text. Old versions have the selector as text, and also as a map of labels if a map can express
// it.
package selectors

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Parse parses the text of a selector. It returns nil for an empty text.
func Parse(text string) (*metav1.LabelSelector, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := metav1.ParseToLabelSelector(text)
	if err != nil {
		return nil, fmt.Errorf("failed to parse target selector: %w", err)
	}
	return selector, nil
}

// Text returns the text of a selector.
func Text(selector *metav1.LabelSelector) (string, error) {
	if selector == nil {
		return "", nil
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return "", fmt.Errorf("invalid label selector: %w", err)
	}
	return parsed.String(), nil
}

// ParseOld returns the selector of a Scale in an old version. The text takes precedence over the
// map.
func ParseOld(text string, labels map[string]string) (*metav1.LabelSelector, error) {
	if text != "" || labels == nil {
		return Parse(text)
	}
	return &metav1.LabelSelector{MatchLabels: maps.Clone(labels)}, nil
}

// Old returns the text and the map of a selector for an old version. The map is nil if a map cannot
// express all requirements of the selector.
func Old(selector *metav1.LabelSelector) (string, map[string]string, error) {
	text, err := Text(selector)
	if err != nil || selector == nil || len(selector.MatchExpressions) > 0 {
		return text, nil, err
	}
	return text, maps.Clone(selector.MatchLabels), nil
}
