// Package builtin has the table of the types that the API server of package apitest serves from the
// beginning, and the fields by which selectors can select their objects. [Resources] returns the
// resources of the table, without objects. [NewResource] is for the types of subresources and
// reviews, which the table does not have.
package builtin
