// Package docs has no code. Its tests compile the code in comments and in Markdown, and check the
// names and links there.
package docs
