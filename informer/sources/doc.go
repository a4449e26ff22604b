// Package sources makes sources for an informer out of other ones. Each stands between an
// informer and what the server says, and is a listwatch.Source itself:
//
//   - [Merge] makes one source of several, such as the namespaces that somebody may look at.
//   - [Transform] changes each object on its way, or makes another one of it.
//   - [Resume] begins where an earlier process was; informer.Preload is made of it.
//
// The tests of what an informer makes of them stand beside it, in package informer.
package sources
