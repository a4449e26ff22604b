// Package applyconfigurations finds the apply configuration of a kind. The apply configurations are
// in the subpackages.
package applyconfigurations
