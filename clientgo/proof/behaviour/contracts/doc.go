// Package contracts has a test for each numbered contract of client-go's informers (docs/contracts.md). They run on
// module clientgo, and package behaviour runs them on client-go as well.
package contracts
