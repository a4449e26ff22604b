// Package conformance has the contracts of the store, the queue and the informer
// as suites of cases, each written once against a small interface, and run on
// whatever implements it: kinform's parts, from the tests of their packages, and
// client-go's, from the module bench. A case cites the contract's number.
//
// Where an implementation differs by design, its test names the case and the
// reason, and the suite sees to it that it really does: a difference that has
// gone is as much of a failure as a contract that is broken.
package conformance
