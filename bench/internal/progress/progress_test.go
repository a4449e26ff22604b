package progress

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEverySecondHasALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := New("queue", 21)
		p.out = &out
		p.Printf("compiling")
		for n := range 21 {
			p.Next("run %d", n+1)
			time.Sleep(400 * time.Millisecond)
		}
		require.Equal(t, `queue: compiling
queue: 1 of 21: run 1
queue: 4 of 21, some 7s left: run 4
queue: 7 of 21, some 6s left: run 7
queue: 10 of 21, some 5s left: run 10
queue: 13 of 21, some 4s left: run 13
queue: 16 of 21, some 2s left: run 16
queue: 19 of 21, some 1s left: run 19
`, out.String())
	})
}

func TestANilProgressWritesNothing(t *testing.T) {
	var p *Progress
	p.Printf("nothing")
	p.Next("nothing")
}
