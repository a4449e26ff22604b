package browser

import "encoding/json"

func parse(s string, to any) error { return json.Unmarshal([]byte(s), to) }

// quote encodes a value as JavaScript.
func quote(s any) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
