package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testSecret is the secret of these tests. No output may contain any of the forms below.
const testSecret = "hush-hush-4711"

var testSecretForms = []string{
	testSecret, "hush", fmt.Sprintf("%x", testSecret), fmt.Sprintf("%X", testSecret), strings.Trim(fmt.Sprint([]byte(testSecret)), "[]"),
	strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", []byte(testSecret)), "[]byte{"), "}"), "aHVzaC1odXNoLTQ3MTE",
}

func requireHidden(t *testing.T, text, how string) {
	t.Helper()
	for _, form := range testSecretForms {
		require.NotContains(t, text, form, how)
	}
}

type exported[V any] struct{ Field V }
type unexported[V any] struct{ field V }
type twice[V any] struct{ inner unexported[V] }
type embedding struct{ Secret }

// nested returns values that contain the value in every position in which a program may print it.
func nested[V any](value V) map[string]any {
	pointer := &value
	return map[string]any{
		"value": value, "pointer": pointer, "pointer to a pointer": &pointer,
		"exported field": exported[V]{value}, "pointer to a struct": &exported[V]{value}, "exported pointer": exported[*V]{pointer},
		"unexported field": unexported[V]{value}, "pointer to a struct with it": &unexported[V]{value}, "unexported pointer": unexported[*V]{pointer},
		"unexported in unexported": twice[V]{unexported[V]{value}},
		"slice":                    []V{value}, "array": [1]V{value}, "map": map[string]V{"a": value}, "interface": []any{value, pointer},
		"field of an interface": unexported[any]{value}, "map of an interface": map[string]any{"a": value},
		"unexported slice": unexported[[]V]{[]V{value}}, "unexported map": unexported[map[string]V]{map[string]V{"a": value}},
	}
}

// TestSecretsAreNotPrinted takes each type that contains a secret, puts a value of it in every
// position, and prints it with every verb.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	certificate, err := tls.X509KeyPair(certificate(t, "me"))
	require.NoError(t, err)
	// A printer that finds the private key would also print this text beside it.
	certificate.OCSPStaple = []byte(testSecret)
	config := Config{
		Host: "https://host", BearerToken: NewSecret(testSecret), Password: NewSecret([]byte(testSecret)), Username: "me",
		TLS: TLSConfig{KeyData: NewSecret(testSecret), CAData: []byte("ca")},
	}
	client, err := NewClient(Config{Host: "https://host", BearerToken: NewSecret(testSecret), TLS: TLSConfig{
		CertData: []byte("a"), KeyData: NewSecret("b"), KeyPair: func(_, _ []byte) (tls.Certificate, error) { return certificate, nil },
	}}, Options{})
	require.NoError(t, err)
	defer client.Close()
	basic, err := NewClient(Config{Host: "https://host", Username: "me", Password: NewSecret(testSecret)}, Options{})
	require.NoError(t, err)
	defer basic.Close()

	values := map[string]map[string]any{
		"Secret":        nested(NewSecret(testSecret)),
		"embedding":     nested(embedding{NewSecret(testSecret)}),
		"Credential":    nested(Credential{Token: NewSecret(testSecret), Certificate: func() *tls.Certificate { return &certificate }}),
		"Config":        nested(config),
		"TLSConfig":     nested(config.TLS),
		"*Client":       nested(client),
		"*Client basic": nested(basic),
		"*Resource":     nested(pods(client)),
	}
	for name, places := range values {
		for place, value := range places {
			for _, verb := range "vTtbcdoOqxXUeEfFgGsp" {
				for _, flags := range []string{"", "+", "#", " ", "+#", "40.3"} {
					format := "%" + flags + string(verb)
					requireHidden(t, fmt.Sprintf(format, value), name+" "+place+" "+format)
				}
			}
			requireHidden(t, fmt.Sprint(value)+fmt.Sprintln(value)+fmt.Errorf("%w %v", errors.New("a"), value).Error(), name+" "+place)
			for how, text := range printedForms(value) {
				requireHidden(t, text, name+" "+place+" "+how)
			}
			requireHidden(t, dumped(value), name+" "+place+" dumped")
		}
	}
	for how, text := range printedForms(exported[string]{testSecret}) {
		require.Contains(t, text, "hush", "this test sees what is shown: %s", how)
	}
	require.Contains(t, dumped(unexported[*exported[string]]{&exported[string]{testSecret}}), "hush")
}

// printedForms returns a value as each encoder and printer formats it.
func printedForms(value any) map[string]string {
	out := map[string]string{}
	text := func(how string, data []byte, err error) { out[how] = fmt.Sprint(string(data), err) }
	data, err := json.Marshal(value)
	text("json", data, err)
	data, err = xml.Marshal(value)
	text("xml", data, err)
	var buffer bytes.Buffer
	err = gob.NewEncoder(&buffer).Encode(value)
	text("gob", buffer.Bytes(), err)
	buffer.Reset()
	err = template.Must(template.New("").Parse("{{.}} {{printf `%v %+v %#v %d` . . . .}}")).Execute(&buffer, value)
	text("template", buffer.Bytes(), err)
	buffer.Reset()
	for _, handler := range []slog.Handler{slog.NewTextHandler(&buffer, nil), slog.NewJSONHandler(&buffer, nil)} {
		slog.New(handler).With("with", value).WithGroup("group").Info("message", "value", value, slog.Group("inner", "value", value))
	}
	text("slog", buffer.Bytes(), nil)
	return out
}

// dumped returns a value as a failing test prints it: testify follows pointers, and calls no
// method.
func dumped(value any) string {
	var failed recorded
	assert.Equal(&failed, value, reflect.Zero(reflect.TypeOf(value)).Interface())
	return failed.text
}

// recorded records the text that a test would print.
type recorded struct{ text string }

func (f *recorded) Errorf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) }

func TestSecretRevealsItsText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a", testSecret} {
		s := NewSecret(text)
		require.Equal(t, text, s.Reveal())
		require.Equal(t, text == "", s.IsZero())
	}
	bytes := []byte(testSecret)
	s := NewSecret(bytes)
	bytes[0] = 'x'
	require.Equal(t, testSecret, s.Reveal(), "a Secret must have its own copy of the text")
	require.Equal(t, "[redacted]  ", fmt.Sprintf("%s %v %q", s, Secret{}, Secret{}), "an empty Secret must print as empty")
	data, err := json.Marshal(struct {
		Set, Empty Secret
		Omitted    Secret `json:",omitzero"`
	}{Set: s})
	require.NoError(t, err)
	require.JSONEq(t, `{"Set":"[redacted]","Empty":""}`, string(data))
	//lint:ignore SA9005 that it decodes into nothing is what is tested
	require.Error(t, json.Unmarshal([]byte(`"[redacted]"`), &s), "the printed form must not decode into a Secret")

	all := Secrets("a", "", testSecret)
	require.Len(t, all, 3)
	require.Equal(t, testSecret, all[2].Reveal())
	require.Equal(t, "[[redacted]  [redacted]]", fmt.Sprint(all))
}

// A credential may become part of contexts and errors of other code.
func TestCredentialInSourceErrorIsRedacted(t *testing.T) {
	t.Parallel()
	client, err := NewClient(Config{Host: "http://127.0.0.1:1", Credentials: func(context.Context, *Credential) (*Credential, error) {
		c := Credential{Token: NewSecret(testSecret)}
		return nil, fmt.Errorf("cannot use %v, %+v, %#v", c, &c, []*Credential{&c}[0])
	}}, Options{})
	require.NoError(t, err)
	defer client.Close()
	_, err = get(t.Context(), client)
	require.ErrorContains(t, err, "cannot use [redacted]")
	requireHidden(t, err.Error(), "error")
}
