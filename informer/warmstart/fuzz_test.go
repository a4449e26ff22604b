package warmstart

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// FuzzRead reads arbitrary bytes as a file, both unchanged and with a valid start and checksum.
// Nothing panics, and a file that can be read is the same after it is written and read again.
func FuzzRead(f *testing.F) {
	file := podFile(f, "unused", Options{})
	// The files of testdata stay valid when libraries change.
	want := header{Source: map[string]string{"cluster": "4f1c"}, Type: "pod", Fields: "0", API: "v0", Codec: "protobuf"}
	for _, n := range []int{0, 2} {
		var out bytes.Buffer
		content := want
		content.ResourceVersion, content.Count = "77", n
		require.NoError(f, file.write(&out, podStore(f, n).Entries(), content))
		f.Add(out.Bytes())
		f.Add(out.Bytes()[len(magic)+4 : out.Len()-sha256.Size])
	}
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, err := file.read(bytes.NewReader(data), int64(len(data)), want, 0o600)
		_ = err // Any error will do.
		sealed := binary.BigEndian.AppendUint32([]byte(magic), format)
		sealed = append(sealed, data...)
		sum := sha256.Sum256(sealed)
		sealed = append(sealed, sum[:]...)
		entries, version, err := file.read(bytes.NewReader(sealed), int64(len(sealed)), want, 0o600)
		if err != nil {
			require.Empty(t, entries)
			require.Empty(t, version)
			return
		}
		for _, entry := range entries {
			again, err := entry.Object.Marshal()
			require.NoError(t, err)
			require.NoError(t, new(corev1.Pod).Unmarshal(again))
		}
	})
}
