// Package instrumented has no code. Its tests run programs with both metrics and traces, which are
// two modules that do not require each other.
package instrumented
