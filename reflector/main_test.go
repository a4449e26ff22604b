package reflector

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Nearly every test lets something fail.
	goleak.VerifyTestMain(m)
}
