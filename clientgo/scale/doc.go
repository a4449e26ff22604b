// Package scale reads and writes the number of replicas of any resource that has the subresource
// scale. It supports all versions of Scale.
package scale
