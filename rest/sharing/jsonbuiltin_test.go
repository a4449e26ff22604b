package sharing_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/randfill"

	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/sharing"
)

func TestEveryBuiltinTypeEqualsApimachineryJSON(t *testing.T) {
	t.Parallel()
	everyBuiltinType(t, 5, decoding{fill: jsonFiller, encode: json.Marshal, want: kjson.UnmarshalCaseSensitivePreserveInts, got: decodeJSON})
}

// jsonFiller is everytype.Filler for JSON, in which a RawExtension must contain an object.
func jsonFiller(seed int64) *randfill.Filler {
	return everytype.Filler(seed).Funcs(func(e *runtime.RawExtension, c randfill.Continue) {
		e.Raw = fmt.Appendf(nil, `{"kind":%q}`, c.String(20))
	})
}

// decodeJSON decodes with DecodeJSON; see decodeAndOverwrite.
func decodeJSON(d *sharing.Decoder, data []byte, object any) error {
	return decodeAndOverwrite(d.DecodeJSON, data, object)
}
