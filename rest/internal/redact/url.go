package redact

import "net/url"

// URL returns a URL for messages. It lacks the continue token, which is long and does not
// help a reader, and parameters that may be secrets of a caller of Raw.
func URL(u url.URL) string {
	shown := url.Values{}
	for key, values := range u.Query() {
		switch key {
		case "continue", "token", "access_token", "password":
			values = []string{"..."}
		}
		shown[key] = values
	}
	u.RawQuery = shown.Encode()
	return u.String()
}
