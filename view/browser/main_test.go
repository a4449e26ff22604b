package browser

import (
	"os"
	"os/exec"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if _, err := exec.LookPath("chromium"); err == nil {
		_, end := browser()
		end()
	}
	os.Exit(code)
}
