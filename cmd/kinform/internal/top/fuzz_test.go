package top

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

// The screen can draw any page. Each drawn line is as wide as the screen, and has only visible
// characters.
func FuzzLines(f *testing.F) {
	text, err := os.ReadFile(fixture)
	require.NoError(f, err)
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, n := range []int{1, 5, 6, 8, 20} {
		f.Add([]byte(all[0]), []byte(all[n]))
	}
	f.Add([]byte(`{"hello":{"version":1,"every":100,"boxes":[{"id":"queue"},{"id":"handlers"}],"numbers":[{"box":"queue","id":"ready","kind":"gauge"}],"actions":[{"id":"a","inputs":[{"id":"b"}]}]}}`),
		[]byte(`{"frame":{"at":1e300,"boxes":[{"id":"queue","n":{"ready":-1e300}},{"id":"handlers"}],"handlers":[{"waiting":-7}],"keys":{"":{"all":-3,"list":[{"in":-1,"for":1e300,"processing":true}]}},"versions":{"server":"9007199254740991","store":"1"},"comparison":{"objects":-1,"ways":[{"all":-1,"first":1e300,"peak":-5,"memory":[[-1,-1],[1e300,1e300]]}]},"events":[{"e":"received","key":"a","at":-1e300},{"e":"retried","wait":1e300,"key":"b"},{"e":"page","n":-4}]}}`))
	f.Fuzz(func(t *testing.T, hello, frame []byte) {
		var h, l view.Line
		if json.Unmarshal(hello, &h) != nil || json.Unmarshal(frame, &l) != nil || h.Hello == nil || l.Frame == nil {
			return
		}
		sanitize(&h)
		sanitize(&l)
		page, err := newPage("http://localhost/", nil)
		require.NoError(t, err)
		s := newScreen(page, time.Unix(0, 0))
		s.width, s.height = 90, 40
		s.choose("")
		s.handleUpdate(streamUpdate{hello: h.Hello, frame: l.Frame})
		second := *l.Frame
		second.At += 250
		s.handleUpdate(streamUpdate{frame: mergeFrames(l.Frame, &second)})
		for _, key := range []string{"esc", "t", "?", "i", "1", "5", "6", "7", "down", "m", "enter", "right", "enter", "esc", "v"} {
			s.key(key)
			for _, l := range s.draw() {
				require.Equal(t, 90, l.width(), "%s", key)
				for _, r := range l.String() {
					require.False(t, isUnsafeRune(r), "%q", r)
				}
			}
		}
		s.handleUpdate(streamUpdate{hello: &view.Hello{Name: "another"}})
		s.key("m")
		s.draw()
	})
}
