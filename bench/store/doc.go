// Command store measures the store of kinform, package indexer, against client-go's
// cache.NewThreadSafeStore, and the textbook's, package plain, beside them, in one process.
// Run it in the directory bench:
//
//	go run ./store [-rows update] [-objects 20000] [-runs 15] [-for 100ms] [-quick]
//
// All have the same objects, and two indexes: by namespace, which kinform always
// has, and by node. Index functions are the same. Each row is measured on all
// sides in turn, which comes first in turn as well, many times, and the median counts.
// plain has no target, and is never measured between the two that are compared.
//
// Rows in which nothing waits for anything are in CPU time of the process, which
// other programs on the machine hardly lengthen. Rows with a reader and a writer,
// who may have to wait for each other, are in wall time, and so need a machine that
// is otherwise idle. Ratios are taken between runs that follow each other.
package main
