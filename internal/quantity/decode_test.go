package quantity

import (
	"encoding/json"
	"errors"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"
)

const (
	tiny = "1e-1000000000" // equals 1n
	huge = "7e1000000000"  // equals 1e2000
)

type Outer struct {
	Q      resource.Quantity `json:"outerQ"`
	Hidden resource.Quantity `json:"q"`
}

type Deepest struct {
	Twice string `json:"twice"`
	Text  resource.Quantity
}

type Deep struct {
	Deepest
	Twice resource.Quantity `json:"twice"`
}

// places has a quantity in every kind of place in which encoding/json decodes a quantity. It also
// has other fields.
type places struct {
	metav1.ObjectMeta `json:"metadata"`
	*Outer            // an embedded pointer
	Deep
	Q resource.Quantity `json:"q"`
	//lint:ignore SA5008 encoding/json ignores this option, and so must the search for quantities
	Option    resource.Quantity            `json:"option,string"`
	Pointer   **resource.Quantity          `json:"pointer"`
	List      []resource.Quantity          `json:"list"`
	Array     [2]*resource.Quantity        `json:"array"`
	ByNumber  map[int]resource.Quantity    `json:"byNumber"`
	ByName    map[string]resource.Quantity `json:"byName"`
	Nested    map[string][]places          `json:"nested"`
	Value     *resource.QuantityValue      `json:"value"`
	Own       own                          `json:"own"`
	Embeds    embeds                       `json:"embeds"`
	Untagged  resource.Quantity
	Text      string                  `json:"text"`
	Any       any                     `json:"any"`
	Float     float64                 `json:"float"`
	Raw       json.RawMessage         `json:"raw"`
	Extension apiruntime.RawExtension `json:"extension"`
	Port      intstr.IntOrString      `json:"port"`
	Time      *metav1.Time            `json:"time"`
	Strings   map[string]string       `json:"strings"`
	//lint:ignore U1000 the search must ignore this field
	unexported resource.Quantity
}

// own decodes itself, like a type that fills in defaults.
type own struct {
	Limit resource.Quantity `json:"limit"`
	Note  string            `json:"note"`
}

func (o *own) UnmarshalJSON(data []byte) error {
	type plain own
	return json.Unmarshal(data, (*plain)(o))
}

type embeds struct{ resource.Quantity }

func decodeJSON(data string, object any) error {
	return new(Guard).DecodeJSON([]byte(data), object, kjson.UnmarshalCaseSensitivePreserveInts)
}

// TestQuantitiesAreReplacedWhereverTheyAre puts an extreme text into one place after another. At a
// place for a quantity, the result must be the quantity that Parse returns. Every other place must
// keep the text.
func TestQuantitiesAreReplacedWhereverTheyAre(t *testing.T) { // G11
	t.Parallel()
	for _, text := range []string{`"` + tiny + `"`, tiny, `" ` + huge + ` "`, "-" + huge, `"0.` + strings.Repeat("3", 9000) + `"`, "0." + strings.Repeat("3", 9000)} {
		plain, err := Parse(strings.Trim(text, `" `))
		require.NoError(t, err)
		for _, document := range []string{
			`{"q":$}`, `{"outerQ":$}`, `{"twice":$}`, `{"option":$}`, `{"pointer":$}`, `{"list":["1",$, "2"]}`, `{"array":["1",$]}`, `{"byNumber":{"1": $ ,"2":"3"}}`,
			`{"byName":{"1e-5000":$}}`, `{"nested":{"a":[{},{"nested":{"b":[{"q":$}]}}]}}`, `{"value":$}`, `{"own":{"note":"1","limit":$}}`, `{"embeds":$}`, `{"Untagged":$}`,
			`{"q":$,"q":"5"}`, `{"\u0071":$}`, "\t{ \"q\"\n:\r" + `$ , "text":"a\\\"b\u0000" } `, `{"metadata":{"annotations":{"a":"` + tiny + `"}},"q":$}`,
			`{"unknown":[{"q":"\\",` + `"x":{}}],"q":$}`,
		} {
			var got, want places
			require.NoError(t, decodeJSON(strings.ReplaceAll(document, "$", text), &got), document)
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(strings.ReplaceAll(document, "$", `"7"`)), &want))
			seven, gotJSON, wantJSON := `"7"`, marshal(t, got), marshal(t, want)
			require.Equal(t, strings.ReplaceAll(wantJSON, seven, marshal(t, plain)), gotJSON, document)
			require.Contains(t, wantJSON+document, seven[:1])
		}
		for _, document := range []string{
			`{"text":$}`, `{"any":$}`, `{"any":{"q":$}}`, `{"raw":$}`, `{"extension":$}`, `{"port":$}`, `{"strings":{"q":$}}`, `{"metadata":{"labels":{"q":$}}}`,
			`{"unknown":{"q":$}}`, `{"unexported":$}`, `{"Q":$}`, `{"strings":{$:"q"}}`, `{"metadata":{"annotations":{$:$}}}`, `{"time":$}`, `{"nested":$}`, `{"float":$}`,
			`{"q":"1","any":[$,{"a":$}]}`,
		} {
			var got, want places
			document = strings.ReplaceAll(document, "$", text)
			wantErr := kjson.UnmarshalCaseSensitivePreserveInts([]byte(document), &want)
			err := decodeJSON(document, &got)
			require.Equal(t, wantErr == nil, err == nil, "%.50s: %v, not %v", document, err, wantErr)
			if err == nil {
				require.Equal(t, want, got, "%.50s", document)
			}
		}
	}
}

func marshal(t *testing.T, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	require.NoError(t, err)
	return string(text)
}

// strict and byText parse a quantity in their methods. blocking stands for a type that parses a
// quantity but accepts any other text. plainText accepts any text, and parses no quantity.
type (
	strict    struct{ value int64 }
	blocking  struct{ text string }
	plainText struct{ text string }
	byText    struct{ value int64 }
)

func (s *strict) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	q, err := resource.ParseQuantity(text)
	s.value = q.Value()
	return err
}

func (b *byText) UnmarshalText(text []byte) error {
	q, err := resource.ParseQuantity(string(text))
	b.value = q.Value()
	return err
}

func (c *plainText) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &c.text) }

// blocking waits for blocked, which stands for a calculation that takes hours.
var blocked = make(chan struct{})

func (l *blocking) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &l.text); err != nil {
		return err
	}
	if l.text == tiny {
		<-blocked
	}
	return nil
}

// TestAUsersMethodCannotBlockForEver checks that a call of a method with unknown behaviour is
// bounded in time.
func TestAUsersMethodCannotBlockForEver(t *testing.T) { // G11
	t.Parallel()
	for _, text := range []string{`"` + tiny + `"`, `"\u0031e-1000000000"`, `"1\u0065-1000000000"`, `"1e\u002D1000000000"`, `"1e-\u0031000000000"`} {
		require.ErrorIs(t, decodeJSON(text, new(strict)), ErrExtreme)
		require.ErrorIs(t, decodeJSON(text, new(byText)), ErrExtreme)
		require.ErrorIs(t, decodeJSON(`{`+text+`:1}`, new(map[byText]int)), ErrExtreme)
		require.ErrorIs(t, decodeJSON(`{"a":[`+text+`]}`, new(map[string][]*strict)), ErrExtreme)
		var c struct {
			metav1.ObjectMeta
			S *strict
			C plainText
		}
		require.NoError(t, decodeJSON(`{"Annotations":{"a":`+text+`},"C":`+text+`,"S":"5"}`, &c))
		require.Equal(t, tiny, c.C.text)
		require.EqualValues(t, 5, c.S.value)
	}
	require.NoError(t, decodeJSON(`"1e-30"`, new(strict)))

	synctest.Test(t, func(t *testing.T) {
		var g Guard
		decode := func(data []byte, object any) error {
			return g.DecodeJSON(data, object, kjson.UnmarshalCaseSensitivePreserveInts)
		}
		blocked = make(chan struct{})
		for range maxAbandoned {
			began := time.Now()
			require.ErrorIs(t, decode([]byte(`"`+tiny+`"`), new(blocking)), errTimeout)
			require.Equal(t, decodeTimeout, time.Since(began))
		}
		require.ErrorIs(t, decode([]byte(`"`+tiny+`"`), new(blocking)), errBusy, "no more than two goroutines may be abandoned at a time")
		close(blocked)
		synctest.Wait()
		var l blocking
		require.NoError(t, decode([]byte(`"`+tiny+`"`), &l))
		require.Equal(t, tiny, l.text)
	})
}

// TestAGoroutineThatPanicsIsAnError checks that decoding returns an error if its goroutine panics
// or calls runtime.Goexit.
func TestAGoroutineThatPanicsIsAnError(t *testing.T) {
	t.Parallel()
	for text, end := range map[string]func(){"panic while decoding: boom": func() { panic("boom") }, "ended while decoding": runtime.Goexit} {
		err := new(Guard).DecodeJSON([]byte(`"`+tiny+`"`), new(strict), func(data []byte, _ any) error {
			if string(data) == `"`+tiny+`"` {
				end()
			}
			return nil
		})
		require.ErrorContains(t, err, text)
	}
}

func TestMalformedJSONIsRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"nested":{"a":[`, 5_000)
	for _, document := range []string{
		`{"q":"` + tiny + `"`, `{"q":"` + tiny, `{"q" "` + tiny + `"}`, `["` + tiny + `"}`, `{"` + tiny + `"}`, `{"q":"` + tiny + `"} x`, `{"q":"` + tiny + `","x":,}`,
		deep + `{"q":"` + tiny + `"}` + strings.Repeat(`]}}`, 5_000), `{"q":"` + tiny + `"x}`, `{q:"` + tiny + `"}`, `{"a":"` + tiny + `\`,
	} {
		require.Error(t, decodeJSON(document, new(places)), "%.40s", document)
	}
}

func decodeProtobuf(data []byte, object interface{ Unmarshal([]byte) error }) error {
	return new(Guard).DecodeProtobuf(data, object, func(data []byte, object any) error {
		return object.(interface{ Unmarshal([]byte) error }).Unmarshal(data)
	})
}

// custom is a type with its own decoder, so its fields do not show its encoding.
type custom struct{ corev1.ResourceQuotaSpec }

func (c *custom) Unmarshal(data []byte) error {
	if strings.Contains(string(data), "overrun") {
		return errors.New("refused")
	}
	return c.ResourceQuotaSpec.Unmarshal(data)
}

func TestQuantitiesInProtobufAreReplaced(t *testing.T) { // G11
	t.Parallel()
	// encode encodes object, which has a placeholder as long as text, and then replaces the
	// placeholder by text.
	encode := func(text string, object interface{ Marshal() ([]byte, error) }) []byte {
		data, err := object.Marshal()
		require.NoError(t, err)
		placeholder := strings.Repeat("9", len(text))
		require.Contains(t, string(data), placeholder)
		return []byte(strings.ReplaceAll(string(data), placeholder, text))
	}
	for _, text := range []string{tiny, huge, "-" + tiny, "-5" + huge, "0." + strings.Repeat("3", 9000), strings.Repeat("8", 9000), "0" + tiny} {
		placeholder := resource.MustParse(strings.Repeat("9", len(text)))
		want, err := Parse(text)
		require.NoError(t, err)

		pod := &corev1.Pod{Spec: corev1.PodSpec{
			Overhead: corev1.ResourceList{"a": resource.MustParse("1"), "cpu": placeholder.DeepCopy()},
			Volumes: []corev1.Volume{{}, {VolumeSource: corev1.VolumeSource{
				EmptyDir:    &corev1.EmptyDirVolumeSource{SizeLimit: &placeholder},
				DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{ResourceFieldRef: &corev1.ResourceFieldSelector{Divisor: placeholder.DeepCopy()}}}},
			}}},
		}}
		pod.Annotations = map[string]string{"a": strings.Repeat("9", len(text)), "b": text}
		var got corev1.Pod
		require.NoError(t, decodeProtobuf(encode(text, pod), &got))
		require.Equal(t, map[string]string{"a": text, "b": text}, got.Annotations)
		for _, q := range []resource.Quantity{got.Spec.Overhead["cpu"], *got.Spec.Volumes[1].EmptyDir.SizeLimit, got.Spec.Volumes[1].DownwardAPI.Items[0].ResourceFieldRef.Divisor} {
			require.Zero(t, want.Cmp(q), "%.50s: %v", text, &q)
			require.Equal(t, want.Format, q.Format)
			require.Equal(t, want.String(), q.String())
		}

		var q resource.Quantity
		require.NoError(t, Unmarshal(&q, encode(text, &placeholder)))
		require.Zero(t, want.Cmp(q))
		require.ErrorIs(t, decodeProtobuf(encode(text, &corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"a": placeholder}}), new(custom)), ErrExtreme)
	}

	// If generated code could read the bytes in another way, decoding refuses them.
	value := "\x12\x0f\x0a\x0d" + tiny
	entry := "\x0a\x01a" + value
	spec := func(entry string) []byte { return []byte("\x0a" + string(rune(len(entry))) + entry) }
	require.NoError(t, decodeProtobuf(spec(entry), new(corev1.ResourceQuotaSpec)))
	for _, entry := range []string{
		"\x08\x01a" + value, "\x0a\x01a" + "\x10" + value[1:], "\x0b\x0c" + entry, "\x0a\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01" + entry,
	} {
		require.ErrorIs(t, decodeProtobuf(append(spec(entry), tiny...), new(corev1.ResourceQuotaSpec)), errMalformed, "%q", entry)
	}
}

// slow matches texts that apimachinery may take long to parse. The tests do not compare results for
// these texts.
var slow = regexp.MustCompile(`(?i)(e|\\u00[46]5)([+-]|\\u002[bd])?(\d|\\u003\d){4}`)

// FuzzDecodeJSON checks that decoding ends for any bytes. If apimachinery ends as well, both must
// have the same result.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{
		`{"q":"1e-1000000000","byNumber":{"1":1e1000000000}}`, `{"own":{"limit":"1e-99999","note":"1e-99999"}}`, `{"list":[1e5,"7Ki"],"any":{"q":1e400}}`,
		`{"\u0071":"1e99999","twice":"\u0031e99999"}`, `{"nested":{"a":[{"outerQ":"0.00000000000000000000001"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		watchdog := time.AfterFunc(20*time.Second, func() { panic("decoding does not end") })
		defer watchdog.Stop()
		var got, want places
		err := decodeJSON(string(data), &got)
		if slow.Match(data) {
			return
		}
		wantErr := kjson.UnmarshalCaseSensitivePreserveInts(data, &want)
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
		if err == nil {
			require.Equal(t, want, got)
		}
	})
}

// FuzzDecodeProtobuf is FuzzDecodeJSON for protobuf.
func FuzzDecodeProtobuf(f *testing.F) {
	for _, text := range []string{tiny, huge, "7Ki", strings.Repeat("7", 600)} {
		quota := &corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"cpu": resource.MustParse(strings.Repeat("9", len(text)))}}
		data, err := quota.Marshal()
		require.NoError(f, err)
		f.Add([]byte(strings.ReplaceAll(string(data), strings.Repeat("9", len(text)), text)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		watchdog := time.AfterFunc(20*time.Second, func() { panic("decoding does not end") })
		defer watchdog.Stop()
		var got, want corev1.ResourceQuotaSpec
		err := decodeProtobuf(data, &got)
		if slow.Match(data) || errors.Is(err, errMalformed) {
			return
		}
		wantErr := want.Unmarshal(data)
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
		if err == nil {
			a, err := got.Marshal()
			require.NoError(t, err)
			b, err := want.Marshal()
			require.NoError(t, err)
			require.Equal(t, len(b), len(a)) // The order of a map's entries is random.
		}
	})
}

// TestInvalidJSONDoesNotPanic: the data may be the value of a single field, and need not be JSON.
func TestInvalidJSONDoesNotPanic(t *testing.T) { // G11
	t.Parallel()
	for _, data := range []string{`1\u0031`, `1\u0031111e-99999`, `\u0031`, `"\u0031`, `\u0031"`, `[1\u0031]`, `{"a":1\u0031}`} {
		var g Guard
		require.NotPanics(t, func() {
			_ = g.DecodeJSON([]byte(data)[:len(data):len(data)], new(own), func(data []byte, object any) error { return json.Unmarshal(data, object) })
		}, data)
	}
}

// TestFieldsOfAMessageTypeAreCached: the search for quantities does not allocate memory for each
// part of a message (G11).
func TestFieldsOfAMessageTypeAreCached(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "1e-1000000000"}}}
	pod.Spec.Volumes = make([]corev1.Volume, 10_000)
	data, err := pod.Marshal()
	require.NoError(t, err)
	var g Guard
	allocated := testing.AllocsPerRun(1, func() {
		require.NoError(t, g.DecodeProtobuf(data, new(corev1.Pod), func([]byte, any) error { return nil }))
	})
	require.Less(t, allocated, 10_000.0)
}
