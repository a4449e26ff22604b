package view

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// codeTTL is the lifetime of a one-time code: long enough to start a browser, or to copy an
// address.
const codeTTL = 5 * time.Minute

// maxSessions limits the sessions of a view. A new session beyond the limit replaces the least
// recently used session.
const maxSessions = 64

// sessions admit requests that do not have the token itself. A [View.Address] has a one-time code
// instead of the token, because every user of a machine can read a browser's command line. The page
// exchanges the code for a session.
//
// The page keeps its session in the storage of its origin, not in a cookie. Browsers send the
// cookies of 127.0.0.1 to every port, and another port may belong to another user's server.
type sessions struct {
	mu           sync.Mutex // guards following
	codes        map[digest]*code
	open         []digest // digests of sessions, the most recently used last
	tokenSession string   // session of all browsers that have sent the token; "" at first
}

// digest is the digest of a secret. The maps have digests as keys, so that the time of a look-up
// reveals nothing about a secret.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// code is the state of a one-time code of an address.
type code struct {
	until   time.Time
	used    bool
	reused  bool   // two browsers have sent it
	session digest // session that the first use of the code began; zero: no session
}

// newCode returns a new one-time code.
func (s *sessions) newCode() string {
	text := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked()
	s.codes[digestOf(text)] = &code{until: time.Now().Add(codeTTL)}
	return text
}

// forgetLocked drops the expired codes.
func (s *sessions) forgetLocked() {
	for text, c := range s.codes {
		if time.Now().After(c.until) {
			delete(s.codes, text)
		}
	}
}

// beginLocked begins a session and returns its secret.
func (s *sessions) beginLocked() string {
	text := rand.Text()
	if len(s.open) >= maxSessions {
		s.open = slices.Delete(s.open, 0, 1)
	}
	s.open = append(s.open, digestOf(text))
	return text
}

// has(text) reports whether a text is the secret of a session. If so, it marks the session as used.
func (s *sessions) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hasLocked(digestOf(text))
}

func (s *sessions) hasLocked(session digest) bool {
	at := slices.Index(s.open, session)
	if at < 0 {
		return false
	}
	s.open = append(slices.Delete(s.open, at, at+1), session)
	return true
}

// exchange returns the session for a code. The first use of a code begins a session. A second use,
// by a browser without that session, ends the session. One of the two browsers has read the other's
// address, and the view cannot know which. The result again is true for the call that first notices
// a second use.
func (s *sessions) exchange(text string) (session string, again bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked()
	c := s.codes[digestOf(text)]
	switch {
	case c == nil:
		return "", false, statusErrorf(http.StatusUnauthorized, "this address has expired, or belongs to a program that has ended: an address is valid for %v. Paste the token that the program has printed", codeTTL)
	case c.used:
		return "", s.revokeLocked(c), statusErrorf(http.StatusUnauthorized, "this address has been opened before, and an address works only once. Paste the token that the program has printed. If somebody else opened the address first, others on this machine have read the address")
	}
	session = s.beginLocked()
	c.used, c.session = true, digestOf(session)
	return session, false, nil
}

// redeem uses up a code for the holder of a token or a session. If the code has begun another
// session, that session ends. The result again is true for the call that first notices the other
// session.
func (s *sessions) redeem(text, holder string) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.codes[digestOf(text)]
	switch {
	case c == nil:
		return false
	case c.session == (digest{}), c.session == digestOf(holder):
		c.used = true
		return false
	}
	return s.revokeLocked(c)
}

// revokeLocked ends the session that the first use of a code began, because the code was used a
// second time. The result is false if revokeLocked was called for this code before.
func (s *sessions) revokeLocked(c *code) (first bool) {
	first, c.reused = !c.reused, true
	s.open = slices.DeleteFunc(s.open, func(open digest) bool { return open == c.session })
	return first
}

// withdraw invalidates a code that has not been used.
func (s *sessions) withdraw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.codes[digestOf(text)]; c != nil && !c.used {
		delete(s.codes, digestOf(text))
	}
}

// sessionOfToken returns the session that all browsers with the token share.
func (s *sessions) sessionOfToken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokenSession == "" || !s.hasLocked(digestOf(s.tokenSession)) {
		s.tokenSession = s.beginLocked()
	}
	return s.tokenSession
}

// endReason returns why a session has ended, or nil if the reason is not known.
func (s *sessions) endReason(session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.codes {
		if c.reused && c.session == digestOf(session) {
			return statusErrorf(http.StatusUnauthorized, "the address of this page was opened a second time, which ended this session. Paste the token that the program has printed. If somebody else opened the address, others on this machine have read the address")
		}
	}
	return nil
}

// serveSession exchanges a code or the token for a session. Without a code or a token, it reports
// whether the session of the request is still valid.
func (v *View) serveSession(w http.ResponseWriter, r *http.Request) (err error) {
	if err := checkJSONPost(r); err != nil {
		return err
	}
	var given struct {
		Code  string `json:"code"`
		Token string `json:"token"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxActionBody)).Decode(&given); err != nil {
		return statusErrorf(http.StatusBadRequest, "the request has neither a code nor a token: %w", err)
	}
	var response struct {
		Session string `json:"session"`       // "" for none
		Why     string `json:"why,omitempty"` // why the session has ended
	}
	current, _ := bearer(r)
	again := false
	switch {
	case given.Token != "":
		if !v.isToken(given.Token) {
			return statusErrorf(http.StatusUnauthorized, "this is not the token that the program has printed")
		}
		response.Session = v.sessions.sessionOfToken()
	case v.authorized(r):
		again = v.sessions.redeem(given.Code, current)
		response.Session = current
	case given.Code != "":
		response.Session, again, err = v.sessions.exchange(given.Code)
	default:
		if err := v.sessions.endReason(current); err != nil {
			response.Why = err.Error()
		}
	}
	if again {
		v.opts.Logger.Warn("an address of the view was opened a second time, which ended the session of the first time", "from", r.RemoteAddr)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, response)
}

// bearer returns the token or the session of a request.
func bearer(r *http.Request) (string, bool) {
	return strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
}
