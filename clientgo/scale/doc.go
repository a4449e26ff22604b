// Package scale reads and writes how many replicas of anything there are to be: of each resource with the subresource scale, in
// whichever version of Scale its server has.
package scale
