package rest

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if host := os.Getenv(environmentHost); host != "" {
		os.Exit(requestByEnvironment(host))
	}
	goleak.VerifyTestMain(m)
}
