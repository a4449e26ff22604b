package top

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	for _, name := range []string{"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TMUX", "STY", "COLORTERM"} {
		_ = os.Unsetenv(name)
	}
	_ = os.Setenv("TERM", "xterm-256color")
	goleak.VerifyTestMain(m)
}
