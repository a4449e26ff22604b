package browser

import "encoding/json"

func parse(s string, to any) error { return json.Unmarshal([]byte(s), to) }

// quote writes a text as JavaScript has it.
func quote(s any) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
