// Package metrics holds what kinform's metrics promise against what they are promised about:
// their familiar names against the registry of controller-runtime, which has client-go's as
// well, and the dashboard and the alert rules of docs/metrics against Prometheus' own engine.
package metrics
