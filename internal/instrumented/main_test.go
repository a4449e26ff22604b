package instrumented

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	silent = slog.New(slog.DiscardHandler)
	key    = types.NamespacedName{Namespace: "web", Name: "a"}
)
