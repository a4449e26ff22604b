package quantity

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
)

// small are limits that even short texts exceed. apimachinery parses short texts quickly, so the
// test can compare the results.
var small = limits{digits: 6, exponent: 5, magnitude: 29}

// requireSame compares apimachinery's result for a text with its result for the simplified text. It
// reports whether l simplified the text.
func requireSame(t testing.TB, l limits, text string) bool {
	t.Helper()
	tamed, ok := l.simplify(text)
	if !ok {
		return false
	}
	want, wantErr := resource.ParseQuantity(text)
	got, err := resource.ParseQuantity(tamed)
	require.Equal(t, wantErr == nil, err == nil, "%q as %q: %v, not %v", text, tamed, err, wantErr)
	if err != nil {
		return true
	}
	limit := resource.MustParse(fmt.Sprintf("1e%d", l.magnitude))
	if want.Sign() < 0 {
		limit.Neg()
	}
	if want.Cmp(limit) == want.Sign() && want.Sign() != 0 {
		want, limit.Format = limit, want.Format
	}
	require.Zero(t, want.Cmp(got), "%q as %q: %v, not %v", text, tamed, &got, &want)
	if limit.Cmp(got) != 0 {
		for _, q := range []*resource.Quantity{&want, &want, &got, &got} {
			q.Neg() // Two negations make the quantity drop its text.
		}
		require.Equal(t, want.Format, got.Format, "%q as %q", text, tamed)
		again, err := resource.ParseQuantity(want.String())
		require.NoError(t, err)
		if again.Cmp(want) == 0 { // Otherwise apimachinery has no suffix for the value.
			require.Equal(t, want.String(), got.String(), "%q as %q", text, tamed)
		}
	}
	return true
}

func TestSimplifiedTextsAreTheSameQuantities(t *testing.T) { // G11
	t.Parallel()
	for _, text := range []string{
		"0e-8", "0e8", "-0e8", ".e8", ".e-10", "+.e-20", "0.e-20", "00000000", "-00000000Ki", "0000000m", "0.0000000", "0.0000000e9",
		"1e-9", "1e-10", "1e-11", "-1e-11", "1e-20", "9e-10", "10e-10", "1.0e-9", "1.00000001e-9", "0.1e-8", "123456789e-17", "123456789e-18",
		"1e28", "1e29", "2e29", "10e28", "9.99e28", "0.1e30", "1000000000e20", "1e60", "-1e60", "0.00000000000000001e20", "0.00000000001e20",
		"12345678", "1234567.8", "0.123456789", "0.1234567891", "-0.1234567891", "0.0000000001", "0.0000000001n", "1234567n", "1234567.1n",
		"1.1234567E", "1.123456789012345678901234567E", "1.1234567890123456789012345671E", "1.12345678901234567890123456701E", "1234567k",
		"100000000000000000000000000000", "1000000000000E", "99999999999E", "100000000000E", "-1000000000000E",
		"1234567Ki", "0.1234567Ki", "0.0000000001Ki", "-0.9999999999Ei", "123456789012345678901Ki", "9223372036854775807.5Ki", "0.00000001Ei",
		"0." + strings.Repeat("3", 80) + "Ei", "0." + strings.Repeat("0", 80) + "1Ei", "0.5" + strings.Repeat("0", 80) + "1Ei", "9007199254740991.999Ki",
		"1e4294967296", "1e4294967299", "1e8589934588", "1e-4294967296", "1e-4294967305", "1.5e-4294967306", "1e0000000000000005", "1e+000000007", "1e-000000007",
		"1e99999999999999999999", "1e+", "1e", "1ee9", "1.2.3456789", "1234567x", "1234567Xi", "1234567e1x", "1234567 ", "+-1234567", "1234567-8", "1234567u", "1234567U",
	} {
		requireSame(t, small, text)
		requireSame(t, small, "-"+text)
	}
	for _, suffix := range []string{"n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-3", "", "i", "K", "ki", "eE", " "} {
		require.Equal(t, suffix != "i" && suffix != "K" && suffix != "ki" && suffix != "eE" && suffix != " ", requireSame(t, small, "12345678.25"+suffix), suffix)
	}
}

func TestRandomTextsAreTheSameQuantities(t *testing.T) { // G11
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	tamed := 0
	for range 200_000 {
		text := make([]byte, random.IntN(24))
		for i := range text {
			text[i] = "00000000111999999.eE-+mKMEin"[random.IntN(28)]
		}
		if i := strings.IndexAny(string(text), "eE"); i >= 0 && digitsOf(strings.TrimLeft(string(text[i+1:]), "+-0")) > 4 {
			continue // apimachinery is too slow for this text.
		}
		if requireSame(t, small, string(text)) {
			tamed++
		}
	}
	require.Greater(t, tamed, 2_000)
}

func FuzzSimplify(f *testing.F) {
	for _, seed := range []string{"1e-1000", "12345678901234567890.5", "0.00000000000000000001Ei", "-.5e12", "1e4294967299", "0e-30"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		if i := strings.LastIndexAny(text, "eE"); i >= 0 {
			if exponent, f := interpret(text[i:]); f == scientific && (exponent > 5000 || exponent < -5000) {
				_, _ = Parse(text) // must return in bounded time
				return
			}
		}
		requireSame(t, small, text)
		want, wantErr := resource.ParseQuantity(text)
		got, err := Parse(text)
		require.Equal(t, wantErr == nil, err == nil)
		if err == nil && want.Cmp(resource.MustParse("1e2000")) < 0 && want.Cmp(resource.MustParse("-1e2000")) > 0 {
			require.Zero(t, want.Cmp(got))
		}
	})
}

// TestExtremeQuantities: apimachinery would take hours to parse these quantities, or to format and
// compare them. The values of the map are the results by apimachinery's rules.
func TestExtremeQuantities(t *testing.T) { // G11
	t.Parallel()
	largest := "1e2000"
	million := strings.Repeat("7", 1_000_000)
	for text, want := range map[string]string{
		"1e-1000": "1n", "1e-1000000000": "1n", "-1E-1000000000": "-1n", "1.5e-2147483647": "1n", "9999999999999999999999e-2147483648": "1n",
		"0e-1000000000": "0", "0e1000000000": "0", "-0.00e-1000000000": "0", "0e-2147483648": "0",
		"1e1000000000": largest, "+1e2147483647": largest, "-5.5e1000000000": "-" + largest, "12345678901234567890e1000000000": largest,
		"1.5e-2147483648": largest, // Computed in 32 bits, the text is 15e2147483647.
		"1e4294967299":    "1000", "1e-" + strings.Repeat("0", 200) + "1000000000": "1n", "1e" + strings.Repeat("0", 1_000_000) + "3": "1k",
		million: largest, "-" + million: "-" + largest, million + "e-999998": "77.777777778", million + "." + million + "e-999998": "77.777777778",
		"0." + million: "0.777777778", "0." + million + "Ki": "796.444444445", "-0." + million + "k": "-777.777777778", million + "Mi": "9223372036854775807",
		"0." + strings.Repeat("0", 1_000_000) + "5": "1n", "0." + strings.Repeat("0", 1_000_000) + "5e1000003": "500", "1" + strings.Repeat("0", 1_000_000) + "e-1000000": "1",
		"1" + strings.Repeat("0", 1_000_000) + "n": largest, "1" + strings.Repeat("0", 1989) + "E": largest, "0." + strings.Repeat("0", 1_000_000) + "E": "0",
		strings.Repeat("0", 1_000_000) + "3Gi": "3Gi",
	} {
		got, err := Parse(text)
		require.NoError(t, err, "%.50s", text)
		wanted := resource.MustParse(want)
		require.Zero(t, wanted.Cmp(got), "%.50s is %.50s, not %s", text, got.AsDec().String(), want)
		// The quantity's methods return quickly as well.
		_, _, _, _, _ = got.String(), got.Value(), got.MilliValue(), got.AsApproximateFloat64(), got.AsFloat64Slow()
		got.Add(resource.MustParse("1n"))
		got.Sub(wanted)
		require.Positive(t, got.Sign())
	}
	for _, text := range []string{"1e99999999999999999999", million + "x", "e" + million, "1e1e" + million, ".e-1000000000"} {
		_, err := Parse(text)
		require.Error(t, err, "%.50s", text)
	}
	// apimachinery keeps a text that is canonical, so the simplified text must not be canonical.
	for text, want := range map[string]string{"1e1000000000": "100e1998", "1e-1000000000": "1e-9", "0." + strings.Repeat("0", 3000) + "1e3001": "1"} {
		got, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, want, got.String())
	}
}
