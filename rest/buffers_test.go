package rest

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowStart returns few bytes in its first reads, and later as many as requested.
type slowStart struct {
	rest  io.Reader
	reads int
}

func (s *slowStart) Read(p []byte) (int, error) {
	if s.reads++; s.reads == 1 {
		p = p[:100]
	}
	return s.rest.Read(p)
}

// TestSlowlyStartingListUsesLargeBuffers: small buffers are for streams that bring few bytes. A
// small buffer must not stay in use only because no read returns more bytes than fit into it.
func TestSlowlyStartingListUsesLargeBuffers(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		body := podList(t, e, "1", plainPods(500)...)
		reader := &slowStart{rest: bytes.NewReader(body)}
		stream := pods(&Client{}).readList(offline(t.Context(), reader), e, nil)
		items, _, err := drainList(stream)
		require.NoError(t, stream.Close())
		require.Equal(t, io.EOF, err)
		require.Len(t, items, 500)
		require.Less(t, reader.reads, len(body)/(busyBufferSize/2)+5, "%d bytes", len(body))
	}
}
