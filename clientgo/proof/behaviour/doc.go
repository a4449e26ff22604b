// Package behaviour compares module clientgo with client-go. It has only tests:
//
//	make dropin-behaviour   # in the root: 2,000 histories of each suite
//	cd clientgo/proof && go test ./behaviour -run Histories -from 17 -histories 1   # one again
//
// The two modules have the same path, so no program can contain both. Package play runs random
// sequences of operations (histories) on stores, queues, reflectors and informers. It is built
// twice: with go.mod as it is, and without the replace directive for client-go. Each binary writes
// a trace of the results. The two traces must be equal.
//
// Package contracts is also run with client-go. Its tests must pass with client-go too, except for
// the tests in a table of client-go's defects.
package behaviour
