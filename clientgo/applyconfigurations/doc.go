// Package applyconfigurations finds the apply configuration of a kind. The configurations are in
// the packages below it.
package applyconfigurations
