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
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Servers in tests fail on purpose.
	goleak.VerifyTestMain(m)
}
