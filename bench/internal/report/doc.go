// Package report is what the measurements share: medians, plain tables, and the
// description of where and of what they were taken.
package report
