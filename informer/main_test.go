package informer_test

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // In these tests, servers fail on purpose.
	goleak.VerifyTestMain(m)
}
