package apitest

import (
	"crypto/subtle"
	"net/http"
	"strings"
	"sync/atomic"
)

// auth holds the token that clients must show.
type auth struct{ token atomic.Pointer[string] }

// SetBearerToken changes the token that clients must show from now on; "" welcomes
// everyone. Watches that are open stay open.
func (s *Server) SetBearerToken(token string) { s.auth.set(token) }

func (a *auth) set(token string) { a.token.Store(&token) }

// admits says whether a request may come in. What says that the server is well is
// told to everyone.
func (a *auth) admits(r *http.Request) bool {
	want := *a.token.Load()
	if want == "" || isHealth(r.URL.Path) {
		return true
	}
	shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(shown), []byte(want)) == 1
}
