// Command store measures the store of kinform, package indexer, against client-go's
// cache.NewThreadSafeStore, in one process. Run it in the directory bench:
//
//	go run ./store [-objects 20000] [-runs 5] [-for 200ms] [-quick]
//
// Both have the same objects, and two indexes: by namespace, which kinform always
// has, and by node. Index functions are the same. Each row is measured on both
// sides in turn, several times, and the median counts.
//
// Rows in which one goroutine does one thing are in CPU time of the process, which
// other programs on the machine do not lengthen; others are in wall time.
package main
