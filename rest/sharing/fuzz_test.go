package sharing_test

import (
	"io"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/sharing"
)

// endless matches texts that apimachinery may parse for hours if they are quantities.
var endless = regexp.MustCompile(`[eE][+-]?\d{4}`)

// FuzzUnmarshal decodes arbitrary bytes. The result must equal the result of generated code, for
// the first and for each further decoding of the same bytes. The types together have every kind of
// field.
func FuzzUnmarshal(f *testing.F) {
	types := []func() everytype.Message{
		func() everytype.Message { return &corev1.Pod{} },
		func() everytype.Message { return &corev1.ConfigMap{} },
		func() everytype.Message { return &authenticationv1.TokenReview{} },
		func() everytype.Message { return &resourcev1.ResourceSlice{} },
	}
	for i, data := range encodedPods(f, 2) {
		f.Add(uint8(i), data)
	}
	for i, make := range types {
		object := make()
		everytype.Filler(int64(i)).Fill(object)
		data, err := object.Marshal()
		require.NoError(f, err)
		f.Add(uint8(i), data)
	}
	f.Add(uint8(0), []byte("\x0a\x04\x0a\x00\x0a\x00\x13\x14\x0a\x85\x80\x00\x0a\x03abc"))
	f.Add(uint8(1), []byte("\x12\x08\x0a\x01a\x12\x01b\x13\x14\x1a\x00\x1a\x04\x0a\x02kk"))
	f.Add(uint8(2), []byte("\x12\x08\x22\x06\x0a\x01a\x12\x00\x08\x01"))
	shared, alone := sharing.New(sharing.Options{MaxBytes: 64 << 10}), sharing.New(sharing.Options{MaxBytes: -1})
	guarded := newGuarded()
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		defer guarded.Check(4)
		if endless.Match(data) {
			t.Skip("apimachinery would parse this text for hours")
		}
		make := types[int(kind)%len(types)]
		want := make()
		wantErr := want.Unmarshal(data)
		for _, d := range []*sharing.Decoder{alone, shared, shared, guarded, guarded} {
			got := make()
			err := unmarshal(d, data, got)
			if wantErr == nil && err != nil {
				// If a key or a value ends beyond its map entry, generated code reads the bytes
				// after the entry. No encoder writes such an entry.
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				again, err := want.Marshal()
				require.NoError(t, err)
				require.NotEqual(t, again, data)
				return
			}
			require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
			if err == nil {
				require.Equal(t, want, got)
			} else {
				require.Equal(t, make(), got, "after an error the object must be empty")
			}
		}
	})
}

// newGuarded returns a decoder with the policy Immutable. It panics if a check finds a mutation.
func newGuarded() *sharing.Decoder {
	return sharing.New(sharing.Options{
		MaxBytes: 64 << 10, Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(func(c sharing.Mutation) { panic(c) }),
	})
}

// FuzzUnmarshalUpdate decodes updates from arbitrary bytes. For every earlier object, the result
// must be the same as without an earlier object. The earlier object must not change.
func FuzzUnmarshalUpdate(f *testing.F) {
	types := updateTypes()
	for kind, make := range types {
		before, after := make(), make()
		everytype.Filler(int64(kind)).Fill(before)
		everytype.Filler(int64(kind) + 1).Fill(after)
		old, err := before.Marshal()
		require.NoError(f, err)
		data, err := after.Marshal()
		require.NoError(f, err)
		f.Add(uint8(kind), old, data)
		f.Add(uint8(kind), data, data)
		f.Add(uint8(kind), old, append(append([]byte{}, old...), data...))
	}
	pods := encodedPods(f, 2)
	f.Add(uint8(0), pods[0], pods[1])
	f.Add(uint8(1), []byte("\x12\x06\x0a\x01a\x12\x01b\x12\x06\x0a\x01c\x12\x01d"), []byte("\x12\x06\x0a\x01a\x12\x01b\x12\x06\x0a\x01a\x12\x01b"))
	shared, alone := sharing.New(sharing.Options{MaxBytes: 64 << 10}), sharing.New(sharing.Options{MaxBytes: -1})
	f.Fuzz(func(t *testing.T, kind uint8, old, data []byte) {
		if endless.Match(data) || endless.Match(old) {
			t.Skip()
		}
		make := types[int(kind)%len(types)]
		before, untouched, want := make(), make(), make()
		if shared.DecodeProtobuf(old, before, nil) != nil || alone.DecodeProtobuf(old, untouched, nil) != nil {
			t.Skip()
		}
		// FuzzUnmarshal checks that this equals the result of the type's own method.
		wantErr := alone.DecodeProtobuf(data, want, nil)
		for range 2 {
			got := make()
			err := update(shared, data, got, before)
			require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
			if wantErr != nil {
				want = make()
			}
			require.Equal(t, want, got)
			require.Equal(t, untouched, before)
		}
	})
}
