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
	// servers in tests fail on purpose, which would be logged
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}
