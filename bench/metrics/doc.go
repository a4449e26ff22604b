// Package metrics tests kinform's metrics with client-go's names against the originals. It compares
// the metrics of Options.ClientGoNames with the registry of controller-runtime, which includes
// client-go's. It runs the dashboard and the alert rules of docs/metrics in Prometheus' own engine.
package metrics
