package top

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

// BenchmarkFrame decodes and draws a frame on a wide terminal. A live stream has ten frames a
// second.
func BenchmarkFrame(b *testing.B) {
	s := staticScreen(b, 160, 48)
	text, err := json.Marshal(view.Line{Frame: s.latest})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		var l view.Line
		require.NoError(b, json.Unmarshal(text, &l))
		sanitize(&l)
		l.Frame.At = s.latest.At + 100
		s.handleFrame(l.Frame)
		_ = s.colors.render(s.draw())
	}
}
