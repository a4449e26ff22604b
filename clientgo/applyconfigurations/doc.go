// Package applyconfigurations finds what can be applied by its kind. The configurations are in the packages below it.
package applyconfigurations
