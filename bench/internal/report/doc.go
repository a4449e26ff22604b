// Package report has the code that measurements share: medians, plain tables, and a description of
// the measured revision and machine.
package report
