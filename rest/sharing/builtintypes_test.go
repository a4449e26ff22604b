package sharing_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/randfill"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/sharing"
)

func TestEveryBuiltinTypeEqualsUnmarshal(t *testing.T) {
	t.Parallel()
	everyBuiltinType(t, 8, decoding{
		fill:   everytype.Filler,
		encode: func(object any) ([]byte, error) { return object.(everytype.Message).Marshal() },
		want:   func(data []byte, object any) error { return object.(everytype.Message).Unmarshal(data) },
		got:    unmarshal,
	})
}

// decoding has functions for one encoding: to make and encode objects, and to decode them with the
// reference decoder and with this package.
type decoding struct {
	fill   func(seed int64) *randfill.Filler
	encode func(object any) ([]byte, error)
	want   func(data []byte, object any) error
	got    func(d *sharing.Decoder, data []byte, object any) error
}

// everyBuiltinType compares the results of both decoders for some objects of each type. The
// argument objects is their number in a full run.
func everyBuiltinType(t *testing.T, objects int64, as decoding) {
	types := everytype.All()
	require.Greater(t, len(types), 300)
	shared, alone := sharing.New(sharing.Options{}), sharing.New(sharing.Options{MaxBytes: -1})
	guarded := sharing.New(sharing.Options{Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(func(c sharing.Mutation) { t.Errorf("%+v", c) })})
	for _, typ := range testsize.Sample(types, 5) {
		t.Run(typ.String(), func(t *testing.T) {
			for seed := range testsize.Scale(objects, 2) {
				object := reflect.New(typ).Interface()
				as.fill(seed).Fill(object)
				data, err := as.encode(object)
				require.NoError(t, err)
				want := reflect.New(typ).Interface()
				require.NoError(t, as.want(data, want))
				for range 2 {
					for _, d := range []*sharing.Decoder{shared, alone, guarded} {
						got := reflect.New(typ).Interface()
						require.NoError(t, as.got(d, data, got))
						require.Equal(t, want, got)
					}
				}
			}
		})
	}
	guarded.Check(1 << 20)
	stats := shared.Stats()
	require.NotZero(t, stats.Hits)
	require.Zero(t, alone.Stats().Lookups)
}

// unmarshal decodes a message; see decodeAndOverwrite.
func unmarshal(d *sharing.Decoder, data []byte, object any) error {
	return decodeAndOverwrite(first(d), data, object)
}

// first returns a function that decodes an object without an earlier version.
func first(d *sharing.Decoder) func(data []byte, object any) error {
	return func(data []byte, object any) error { return d.DecodeProtobuf(data, object, nil) }
}

// decodeAndOverwrite decodes a copy of data and then overwrites the copy, as a caller does that
// reuses its buffer.
func decodeAndOverwrite(decode func([]byte, any) error, data []byte, object any) error {
	own := append([]byte{}, data...)
	err := decode(own, object)
	for i := range own {
		own[i] = 0xff
	}
	return err
}
