package sharing_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/sharing"
)

// FuzzDecodeJSON decodes arbitrary bytes. The decoder must return the same object as apimachinery's
// decoder, or an error if that returns an error. Decoding the same bytes again must have the same
// result.
func FuzzDecodeJSON(f *testing.F) {
	types := []reflect.Type{
		reflect.TypeFor[corev1.Pod](), reflect.TypeFor[map[string]any](), reflect.TypeFor[everything](),
		reflect.TypeFor[resourcev1.ResourceSlice](), reflect.TypeFor[any](),
	}
	for i, data := range jsonPods(f, 2) {
		f.Add(uint8(i), data)
	}
	for i, typ := range types {
		object := reflect.New(typ).Interface()
		if typ.Kind() == reflect.Struct && i != 2 {
			jsonFiller(int64(i)).Fill(object)
			data, err := json.Marshal(object)
			require.NoError(f, err)
			f.Add(uint8(i), data)
		}
		for _, document := range documents {
			f.Add(uint8(i), []byte(document))
		}
	}
	shared, alone := sharing.New(sharing.Options{MaxBytes: 64 << 10}), sharing.New(sharing.Options{MaxBytes: -1})
	guarded := newGuarded()
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		defer guarded.Check(4)
		if endless.Match(data) {
			t.Skip("apimachinery would parse this text for hours")
		}
		typ := types[int(kind)%len(types)]
		want := reflect.New(typ)
		wantErr := kjson.UnmarshalCaseSensitivePreserveInts(data, want.Interface())
		for _, d := range []*sharing.Decoder{alone, shared, shared, shared, guarded, guarded, guarded} {
			got := reflect.New(typ)
			err := decodeJSON(d, data, got.Interface())
			require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
			if err == nil {
				require.Equal(t, want.Interface(), got.Interface())
			} else {
				require.Zero(t, got.Elem().Interface(), "after an error the object must be empty")
			}
		}
	})
}

type text string

func (t *text) UnmarshalText(b []byte) error {
	*t = text("text " + string(b))
	return nil
}

type own struct{ Raw string }

func (o *own) UnmarshalJSON(b []byte) error {
	o.Raw = string(b)
	return nil
}

type inner struct {
	Deep  string  `json:"deep,omitempty"`
	Self  *inner  `json:"self"`
	Selfs []inner `json:"selfs"`
}

// everything has a field of each kind that the decoder distinguishes.
type everything struct {
	metav1.TypeMeta `json:",inline"`
	inner           `json:",inline"`

	S      string
	Case   string                      `json:"case"`
	Hidden string                      `json:"-"`
	B      bool                        `json:"b"`
	I8     int8                        `json:"i8"`
	I16    int16                       `json:"i16"`
	I32    int32                       `json:"i32"`
	I64    int64                       `json:"i64"`
	U8     uint8                       `json:"u8"`
	U64    uint64                      `json:"u64"`
	F32    float32                     `json:"f32"`
	F64    float64                     `json:"f64"`
	BP     *bool                       `json:"bp"`
	I32P   *int32                      `json:"i32p"`
	I64P   *int64                      `json:"i64p"`
	SP     *string                     `json:"sp"`
	SPP    **string                    `json:"spp"`
	Bytes  []byte                      `json:"bytes"`
	Raw    json.RawMessage             `json:"raw"`
	Ext    runtime.RawExtension        `json:"ext"`
	ExtP   *runtime.RawExtension       `json:"extp"`
	List   []string                    `json:"list"`
	Lists  [][]int                     `json:"lists"`
	Inners []*inner                    `json:"inners"`
	Map    map[string]string           `json:"map"`
	Maps   map[string]map[string]bool  `json:"maps"`
	Named  map[corev1.ResourceName]own `json:"named"`
	Ints   map[int]string              `json:"ints"`
	Texts  map[text]text               `json:"texts"`
	Any    any                         `json:"any"`
	Anys   map[string]any              `json:"anys"`
	AnyL   []any                       `json:"anyl"`
	Text   text                        `json:"text"`
	TextP  *text                       `json:"textp"`
	Own    own                         `json:"own"`
	OwnP   *own                        `json:"ownp"`
	Time   metav1.Time                 `json:"time"`
	TimeP  *metav1.Time                `json:"timep"`
	Micro  metav1.MicroTime            `json:"micro"`
	Dur    metav1.Duration             `json:"dur"`
	Array  [2]int                      `json:"array"`
	Num    json.Number                 `json:"num"`
	Quoted struct {
		N int `json:"n,string"`
	} `json:"quoted"`
	Stringer interface{ String() string } `json:"stringer"`
}

// documents has special cases. They are test cases, and seeds of the fuzzer.
var documents = []string{
	``, ` `, `null`, ` null `, `true`, `nul`, `nulll`, `"text"`, `12`, `[]`, `[{}]`, `{}`, `{ }`, "\t{\r\n}\n", `{}{}`, `{} x`, `{`, `{"`, `{"a`, `{"a"`,
	`{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`, `[1,]`, `[1 2]`, `{"a":[}`, `{"a":[1,2,{"b":[]}]}`,
	`{"S":"a","s":"b","case":"c","Case":"d","CASE":"e","Hidden":"x","-":"y"}`,
	`{"deep":"x","self":{"deep":"y","self":{"self":null},"selfs":[{"deep":"z"},{},null]},"selfs":[]}`,
	`{"b":true,"i8":-128,"i16":32767,"i32":-0,"i64":9223372036854775807,"u8":255,"u64":18446744073709551615,"f32":1.5e3,"f64":-1e-9}`,
	`{"i8":128}`, `{"i32":1.0}`, `{"i32":1e2}`, `{"i64":9223372036854775808}`, `{"u8":-1}`, `{"u64":-0}`, `{"f32":1e39}`, `{"f64":1e999}`, `{"i32":"1"}`, `{"b":1}`, `{"b":"true"}`,
	`{"i32":01}`, `{"i32":-}`, `{"i32":+1}`, `{"f64":1.}`, `{"f64":.5}`, `{"f64":1e}`, `{"f64":1E+}`, `{"x":01}`, `{"x":1.}`, `{"x":tru}`, `{"x":truely}`,
	`{"bp":true,"i32p":255,"i64p":256,"sp":"x","spp":"y"}`, `{"bp":false,"i32p":-1,"i64p":0,"sp":"","spp":null}`, `{"bp":null,"i32p":null,"sp":null}`, `{"i32p":1.5}`, `{"bp":3}`, `{"i32p":00}`, `{"i32p":4294967296}`,
	`{"bytes":"aGVsbG8="}`, `{"bytes":""}`, `{"bytes":"!"}`, `{"bytes":[1,2,3]}`, `{"bytes":null}`, `{"bytes":"aGVs\nbG8="}`, `{"bytes":"aGVs\u0062G8="}`, `{"bytes":{}}`,
	`{"raw": { "a" : [ 1 ] } ,"ext":{"kind":"x"},"extp":{"kind":"y"}}`, `{"raw":null,"ext":null,"extp":null}`, `{"ext":[1],"raw":"x"}`,
	`{"list":[],"lists":[[],[1],[2,3],null],"inners":[{"deep":"a"},null,{}]}`, `{"list":null,"lists":null,"inners":null}`, `{"list":[null,"a",null]}`, `{"list":[1]}`, `{"list":{}}`, `{"list":"x"}`, `{"lists":[["x"]]}`,
	`{"map":{},"maps":{"a":{"b":true},"c":null,"d":{}},"named":{"cpu":1,"memory":null}}`, `{"map":null}`, `{"map":{"a":"b","a":"c","d":null}}`, `{"map":{"a":1}}`, `{"map":[]}`, `{"map":{"a":"b","a":null}}`, `{"maps":{"a":{"b":true},"a":{"c":false}}}`,
	`{"ints":{"1":"a","-2":"b"},"texts":{"a":"b"}}`, `{"ints":{"x":"a"}}`,
	`{"any":{"a":[1,2.5,"x",null,true,{"b":{}}],"n":9223372036854775808,"e":1e2,"z":-0,"zf":-0.0},"anys":{"a":{"a":{"a":1}}},"anyl":[[],{},[[]]]}`, `{"any":null,"anys":null,"anyl":null}`, `{"any":1e999}`, `{"anys":{"a":1,"a":{"b":2}}}`, `{"any":"x"}`, `{"any":-}`,
	`{"text":"a","textp":"b","own":{"x":1},"ownp":[1]}`, `{"text":null,"textp":null,"own":null,"ownp":null}`, `{"text":1}`, `{"textp":{}}`,
	`{"time":"2026-01-02T03:04:05Z","timep":"2026-01-02T03:04:05+02:00","micro":"2026-01-02T03:04:05.000006Z","dur":"1h"}`, `{"time":null,"timep":null,"micro":null,"dur":null}`, `{"time":"x"}`, `{"time":""}`, `{"time":1}`, `{"time":{}}`, `{"time":"2026\u002d01-02T03:04:05Z"}`,
	`{"array":[1,2,3],"num":12,"quoted":{"n":"5"},"stringer":null}`, `{"array":[1]}`, `{"num":"x"}`, `{"num":"1.5"}`, `{"quoted":{"n":5}}`, `{"stringer":"x"}`,
	`{"S":"a","S":"b"}`, `{"self":{"deep":"a"},"self":{"self":{}}}`, `{"map":{"a":"b"},"map":{"c":"d"}}`, `{"selfs":[{"deep":"a"},{"deep":"b"}],"selfs":[{"self":{}}]}`, `{"b":true,"b":null}`, `{"kind":"a","kind":1}`, `{"unknown":1,"unknown":2}`,
	`{"S":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, `{"S":"\ud83d"}`, `{"S":"\ud83dx"}`, `{"S":"\ud83d\u0041"}`, `{"S":"\ude00\ud83d"}`, `{"S":"\u12"}`, `{"S":"\x"}`, `{"S":"\'"}`, `{"S":"\`, "{\"S\":\"a\nb\"}", "{\"S\":\"a\x00\"}", "{\"S\":\"\x7f\"}",
	"{\"S\":\"\xff\xfe\"}", "{\"S\":\"é\xc3\"}", "{\"map\":{\"\xff\":\"\xff\"}}", `{"\u0053":"x","ca\u0073e":"y"}`, "{\"S\xff\":\"x\"}", "\xef\xbb\xbf{}", `{"x":"\u12g4"}`, "{\"x\":\"\x01\"}", `{"x":"\ud83d"}`,
	`{"metadata":{"name":"a","annotations":{"a":"{\"b\":\"c\"}"},"managedFields":[{"fieldsV1":{"f:x":{}}}]},"spec":{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"livenessProbe":{"httpGet":{"port":80}}},{"livenessProbe":{"httpGet":{"port":"http"}}}]}}`,
	`{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"1.5Gi"}},{"emptyDir":{"sizeLimit":1000}},{"emptyDir":{"sizeLimit":null}}]}}`, `{"spec":{"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}`, `{"spec":{"containers":{}}}`, `{"spec":null,"metadata":null}`, `{"spec":[]}`,
}

func TestDocumentsEqualApimachineryJSON(t *testing.T) {
	t.Parallel()
	for _, d := range []*sharing.Decoder{sharing.New(sharing.Options{}), sharing.New(sharing.Options{MaxBytes: -1})} {
		for _, typ := range []reflect.Type{reflect.TypeFor[everything](), reflect.TypeFor[corev1.Pod](), reflect.TypeFor[map[string]any](), reflect.TypeFor[any](), reflect.TypeFor[[]string](), reflect.TypeFor[own](), reflect.TypeFor[*inner]()} {
			for _, document := range documents {
				want := reflect.New(typ)
				wantErr := kjson.UnmarshalCaseSensitivePreserveInts([]byte(document), want.Interface())
				for range 3 {
					got := reflect.New(typ)
					err := decodeJSON(d, []byte(document), got.Interface())
					require.Equal(t, wantErr == nil, err == nil, "%s: %v, %v", document, wantErr, err)
					if err == nil {
						require.Equal(t, want.Interface(), got.Interface(), document)
					}
				}
			}
		}
	}
}
