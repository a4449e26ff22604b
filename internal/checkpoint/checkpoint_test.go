package checkpoint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/checkpoint"
)

func TestBefore(t *testing.T) {
	for version, want := range map[string]string{
		"2": "1", "1000": "999", "18446744073709551615": "18446744073709551614",
		"": "", "0": "", "1": "", "-5": "", "x": "", "18446744073709551616": "",
	} {
		require.Equal(t, want, checkpoint.Checkpoint{Version: version}.Before(), version)
	}
}
