package rest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// The test calls the reader without a goroutine. Each piece has the frames that are complete when
// bytes arrive. A piece does not change while the reader fills later pieces.
func TestReaderReturnsCompleteFramesAtOnce(t *testing.T) {
	t.Parallel()
	const sent = "aabbccdde"
	for name, test := range map[string]struct {
		body io.Reader
		want []string
	}{
		"at once":          {strings.NewReader(sent), []string{"aabbccdd", ""}},
		"a byte a time":    {iotest.OneByteReader(strings.NewReader(sent)), []string{"aa", "bb", "cc", "dd", ""}},
		"with its end":     {iotest.DataErrReader(strings.NewReader(sent)), []string{"aabbccdd"}},
		"split in a frame": {io.MultiReader(strings.NewReader(sent[:3]), strings.NewReader(sent[3:])), []string{"aa", "bbccdd", ""}},
		"nothing at all":   {strings.NewReader(""), []string{""}},
		"nothing usable":   {strings.NewReader("a"), []string{""}},
		"a lost body":      {io.MultiReader(strings.NewReader("aab"), iotest.ErrReader(io.ErrUnexpectedEOF)), []string{"aa", ""}},
		"a failing body":   {io.MultiReader(strings.NewReader("aab"), iotest.ErrReader(errClosedForTest)), []string{"aa", ""}},
		"empty in middle":  {io.MultiReader(strings.NewReader("aa"), strings.NewReader(""), strings.NewReader("bb")), []string{"aa", "bb", ""}},
	} {
		r := reader{exchange: offline(t.Context(), test.body), framer: fixedSizeFramer{}}
		pieces := readPieces(&r)
		var got []string
		for _, p := range pieces {
			got = append(got, string(bytes.Join(frameData(p), nil)))
		}
		require.Equal(t, test.want, got, name)
		switch end := pieces[len(pieces)-1].end; name {
		case "a lost body":
			require.ErrorContains(t, end, "the connection was lost", name)
		case "a failing body":
			require.Equal(t, errClosedForTest, end, name)
		default:
			require.Equal(t, io.EOF, end, name)
		}
	}
}

var errClosedForTest = errors.New("the body fails")

// Many small frames in one buffer make several pieces, which share the buffer. The reader does not
// recycle a shared buffer.
func TestReaderLimitsFramesPerPiece(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("ab", 2*maxFrames+1)
	r := reader{exchange: offline(t.Context(), strings.NewReader(body)), framer: fixedSizeFramer{}}
	pieces := readPieces(&r)
	require.Len(t, pieces, 4)
	for i, want := range []int{maxFrames, maxFrames, 1, 0} {
		require.Len(t, pieces[i].frames, want)
		require.EqualValues(t, 2*want, pieces[i].size)
		require.Equal(t, i < 3, pieces[i].divided, "piece %d", i)
	}
	require.Same(t, pieces[0].buffer, pieces[2].buffer)
	require.NotSame(t, pieces[0].buffer, pieces[3].buffer)
	require.EqualValues(t, len(body), pieces[3].received)
}

// readPieces reads a stream to its end.
func readPieces(r *reader) (pieces []piece) {
	for {
		var p piece
		r.next(&p)
		pieces = append(pieces, p)
		if p.end != nil {
			return pieces
		}
	}
}

func frameData(p piece) (all [][]byte) {
	for _, f := range p.frames {
		all = append(all, f.Data)
	}
	return all
}
