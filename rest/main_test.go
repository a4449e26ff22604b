package rest

import (
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if host := os.Getenv(environmentHost); host != "" {
		os.Exit(requestByEnvironment(host))
	}
	// drops log lines about servers that fail on purpose
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}
