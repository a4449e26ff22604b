package docs

// The code of pages and comments imports these packages. An overlay adds this code only for
// compilation, so go mod tidy does not see the imports. This file keeps the requirements in go.mod.
import (
	_ "github.com/prometheus/client_golang/prometheus/collectors"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "go.opentelemetry.io/otel/trace"

	_ "github.com/kinform/kinform/metrics"
	_ "github.com/kinform/kinform/tracing"
)
