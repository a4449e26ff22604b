package apiobject

import (
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Message is an object with a protobuf encoding. Every built-in type has one.
type Message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// Remarshal converts one Go representation to another, through JSON.
func Remarshal(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(data, to)
}

// MustJSON encodes values that cannot fail to encode.
func MustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("apitest: " + err.Error())
	}
	return data
}
