package docs

// The code of pages and comments imports these packages. It is laid over this module when it is
// compiled, so that go mod tidy does not see its imports.
import (
	_ "github.com/prometheus/client_golang/prometheus/collectors"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "go.opentelemetry.io/otel/trace"

	_ "github.com/kinform/kinform/metrics"
	_ "github.com/kinform/kinform/tracing"
)
