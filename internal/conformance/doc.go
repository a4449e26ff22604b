// Package conformance has the contracts of the store, the queue, the work queue and the informer,
// as suites of cases. A suite is written once, against a small interface. The tests of kinform's
// packages run it on kinform's types, and the module bench runs it on client-go's. A case cites the
// contract's number.
//
// If an implementation differs by design, its test names the case and the reason, and the suite
// checks that it differs. A difference that is gone is a failure, like a broken contract.
package conformance
