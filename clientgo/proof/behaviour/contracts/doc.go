// Package contracts has a test for each numbered contract of client-go's informers
// (docs/contracts.md). The tests run with module clientgo, and package behaviour runs them with
// client-go too.
package contracts
