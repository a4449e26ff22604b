package apitest

import (
	"crypto/subtle"
	"slices"
	"sync/atomic"
)

// auth holds the tokens that the server accepts from clients.
type auth struct {
	token atomic.Pointer[string]
	users map[string]User // users by token
	key   []byte          // key that signs the tokens of service accounts
}

// SetBearerToken changes the token that clients must send from now on. With the token "" everyone
// may connect, unless there are [Options].Tokens. Open watches stay open.
func (s *Server) SetBearerToken(token string) { s.auth.setToken(token) }

func (a *auth) setToken(token string) { a.token.Store(&token) }

// required reports whether clients must send a token.
func (a *auth) required() bool { return *a.token.Load() != "" || len(a.users) > 0 }

// isBearerToken reports whether a token is the bearer token of the server.
func (a *auth) isBearerToken(token string) bool {
	want := *a.token.Load()
	return want != "" && subtle.ConstantTimeCompare([]byte(token), []byte(want)) == 1
}

// user returns the user with this token.
func (a *auth) user(token string) (user User, ok bool) {
	for of, u := range a.users {
		if subtle.ConstantTimeCompare([]byte(token), []byte(of)) == 1 {
			user, ok = u, true
		}
	}
	user.Groups = append(slices.Clone(user.Groups), groupAuthenticated)
	return user, ok
}
