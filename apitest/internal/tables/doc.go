// Package tables has the columns that kubectl shows for each type of object: their headings, and
// their cells for an object. It is for the API server of package apitest, which sends them as a
// metav1.Table.
//
//   - [Builtin] has the columns of a built-in type, as the real server has them.
//   - [Custom] has the columns of any other type. For a custom resource, these are the columns that
//     its CustomResourceDefinition declares.
//
// # Guarantees
//
//   - A function Cells returns one cell for each heading, whatever fields the object lacks.
//   - Cells reads its object, and changes nothing.
package tables
