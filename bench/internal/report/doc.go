// Package report has the code that measurements share: medians, plain tables, and the
// description of where and of what they were taken.
package report
