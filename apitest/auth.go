package apitest

import (
	"crypto/subtle"
	"slices"
	"sync/atomic"
)

// auth holds the tokens that clients show.
type auth struct {
	token atomic.Pointer[string]
	users map[string]User // by token
	key   []byte          // signs the tokens of service accounts
}

// SetBearerToken changes the token that clients must show from now on; "" welcomes
// everyone, unless there are [Options].Tokens. Watches that are open stay open.
func (s *Server) SetBearerToken(token string) { s.auth.set(token) }

func (a *auth) set(token string) { a.token.Store(&token) }

// needed says that nobody may come in without a token.
func (a *auth) needed() bool { return *a.token.Load() != "" || len(a.users) > 0 }

// is says whether a token is the one that clients must show.
func (a *auth) is(token string) bool {
	want := *a.token.Load()
	return want != "" && subtle.ConstantTimeCompare([]byte(token), []byte(want)) == 1
}

// user returns whose token it is.
func (a *auth) user(token string) (user User, ok bool) {
	for of, u := range a.users {
		if subtle.ConstantTimeCompare([]byte(token), []byte(of)) == 1 {
			user, ok = u, true
		}
	}
	user.Groups = append(slices.Clone(user.Groups), groupAuthenticated)
	return user, ok
}
