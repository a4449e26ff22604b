// Package podmaker makes realistic running pods, for package apitest and its users. A pod comes
// from the template of a workload, and has the defaults, the status and the managed fields that a
// cluster would add.
//
// # Guarantees
//
//   - The same numbers and the same seed give the same pods, in any order.
//   - A pod belongs to the caller, and shares no memory with other pods.
//
// A [Maker] is not safe for concurrent use.
package podmaker
