// Package docs has no code. Its tests compile the code in comments and in Markdown, for
// what is shown to a reader should compile.
package docs
