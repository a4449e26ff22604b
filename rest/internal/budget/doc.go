// Package budget estimates the memory of an object before anything decodes it (G11). Two bytes of
// protobuf can be an empty element, for which generated code makes a struct of 456 bytes: 16 MiB of
// such elements would take 4 GB. If a type contains itself, generated code calls itself for each
// level of nesting, until the stack is full and the process ends.
//
// Package rest makes one [Estimator] for each Resource, and calls it for every object.
//
// # Guarantees
//
// Only costly parts are counted: elements of lists, entries of maps and pointers that take more
// memory than [Limits].Expansion times their shortest encoding. In a pod these are its containers,
// volumes and conditions. All other parts together take at most Expansion times their bytes. So an
// object may take twice the budget, and up to twice as much as that while an append grows a list.
// In objects larger than 2 MiB, nearly all elements are counted.
//
// [Estimator.Check] allocates nothing for an object within its budget.
package budget
