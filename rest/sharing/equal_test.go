package sharing_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/sharing"
)

func TestEveryBuiltinTypeIsDecodedAsByItsOwnMethod(t *testing.T) {
	t.Parallel()
	types := everytype.All()
	require.Greater(t, len(types), 300)
	shared, alone := sharing.New(sharing.Options{}), sharing.New(sharing.Options{MaxBytes: -1})
	for _, typ := range types {
		t.Run(typ.String(), func(t *testing.T) {
			for seed := range int64(8) {
				object := reflect.New(typ).Interface().(everytype.Message)
				everytype.Filler(seed).Fill(object)
				data, err := object.Marshal()
				require.NoError(t, err)
				want := reflect.New(typ).Interface().(everytype.Message)
				require.NoError(t, want.Unmarshal(data))
				for range 2 {
					for _, d := range []*sharing.Decoder{shared, alone} {
						got := reflect.New(typ).Interface()
						require.NoError(t, unmarshal(d, data, got))
						require.Equal(t, want, got)
					}
				}
			}
		})
	}
	stats := shared.Stats()
	require.NotZero(t, stats.Hits)
	require.Zero(t, alone.Stats().Lookups)
}

// unmarshal decodes a copy of data and spoils it then, as buffers are used again.
func unmarshal(d *sharing.Decoder, data []byte, object any) error {
	own := append([]byte{}, data...)
	err := d.Unmarshal(own, object)
	for i := range own {
		own[i] = 0xff
	}
	return err
}
