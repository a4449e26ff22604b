// Package conformance has the contracts of the store, the queue, the work queue and the informer,
// as suites of test cases. Each suite uses a small interface. The tests of kinform's packages run
// the suites on kinform's types, and the module bench runs them on client-go's. A case cites the
// number of its contract.
//
// If an implementation differs by design, its test names the case and the reason, and the suite
// checks that the case fails. If such a case passes, the suite reports a failure, as for a broken
// contract.
package conformance
