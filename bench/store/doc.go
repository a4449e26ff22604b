// Command store measures kinform's store, package indexer, against client-go's
// cache.NewThreadSafeStore. Package plain, the textbook store, is measured beside them. All run in
// one process. Run it in the directory bench:
//
//	go run ./store [-rows update] [-objects 20000] [-runs 15] [-for 100ms] [-quick]
//
// All stores have the same objects, and two indexes: by namespace, which kinform always has, and by
// node. They use the same index functions. Each row is measured many times on all sides, with
// another side first each time, and the median counts. plain has no target, and is never measured
// between the two compared sides.
//
// Rows without waiting are in CPU time of the process, which other programs on the machine hardly
// affect. Rows with a reader and a writer, which may wait for each other, are in wall time, and so
// need an otherwise idle machine. Ratios are computed between consecutive runs.
package main
