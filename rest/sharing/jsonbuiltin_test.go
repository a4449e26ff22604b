package sharing_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/sharing"
)

func TestEveryBuiltinTypeIsDecodedFromJSONAsByApimachinery(t *testing.T) {
	t.Parallel()
	types := everytype.All()
	require.Greater(t, len(types), 300)
	shared, alone := sharing.New(sharing.Options{}), sharing.New(sharing.Options{MaxBytes: -1})
	for _, typ := range types {
		t.Run(typ.String(), func(t *testing.T) {
			for seed := range int64(5) {
				object := reflect.New(typ).Interface()
				jsonFiller(seed).Fill(object)
				data, err := json.Marshal(object)
				require.NoError(t, err)
				want := reflect.New(typ).Interface()
				require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(data, want))
				for range 2 {
					for _, d := range []*sharing.Decoder{shared, alone} {
						got := reflect.New(typ).Interface()
						require.NoError(t, decodeJSON(d, data, got))
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

// jsonFiller is everytype.Filler for what is sent in JSON, where an extension is an object.
func jsonFiller(seed int64) *randfill.Filler {
	return everytype.Filler(seed).Funcs(func(e *runtime.RawExtension, c randfill.Continue) {
		e.Raw = fmt.Appendf(nil, `{"kind":%q}`, c.String(20))
	})
}

// decodeJSON decodes a copy of data and spoils it then, as buffers are used again.
func decodeJSON(d *sharing.Decoder, data []byte, object any) error {
	own := append([]byte{}, data...)
	err := d.DecodeJSON(own, object)
	for i := range own {
		own[i] = 0xff
	}
	return err
}
