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

// codeLife is how long a one-time code is good for: long enough to start a browser, or to copy an address.
const codeLife = 5 * time.Minute

// mostSessions bounds the sessions of a view. The session that was unused for the longest time ends for a new one.
const mostSessions = 64

// sessions know who may act without the token itself. An address of [View.Address] has a one-time code, because
// every user of a machine can read the command line of a browser. The page exchanges the code for a session.
//
// The page keeps its session in the storage of its origin, and not in a cookie: browsers send the cookies of
// 127.0.0.1 to every port, and the server of another user may listen on the next one.
type sessions struct {
	mu    sync.Mutex // guards following
	codes map[digest]*code
	open  []digest // of sessions, the one that was used last at the end
	typed string   // the session of all who have given the token; "" before the first one
}

// digest stands for a secret. The time of a look-up says nothing about the secret itself.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// code is a one-time code.
type code struct {
	until   time.Time
	used    bool
	twice   bool   // two browsers have sent it
	session digest // what the first use was given; zero if nothing
}

// newCode returns a one-time code that is good from now on.
func (s *sessions) newCode() string {
	text := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked()
	s.codes[digestOf(text)] = &code{until: time.Now().Add(codeLife)}
	return text
}

// forgetLocked forgets the codes whose time is over.
func (s *sessions) forgetLocked() {
	for text, c := range s.codes {
		if time.Now().After(c.until) {
			delete(s.codes, text)
		}
	}
}

// beginLocked begins a session. One who knows its text may act.
func (s *sessions) beginLocked() string {
	text := rand.Text()
	if len(s.open) >= mostSessions {
		s.open = slices.Delete(s.open, 0, 1)
	}
	s.open = append(s.open, digestOf(text))
	return text
}

// has reports whether a text is that of a session, and notes its use.
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

// exchange returns the session for a code. The first use of a code begins one. A second use, by somebody without the
// session of the first, ends that session: one of the two has read an address of the other, and nobody can say which. again
// is true for the first of these uses.
func (s *sessions) exchange(text string) (session string, again bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked()
	c := s.codes[digestOf(text)]
	switch {
	case c == nil:
		return "", false, refused(http.StatusUnauthorized, "this address is too old, or of a program that has ended: an address is good for %v. Paste the token that the program has printed", codeLife)
	case c.used:
		return "", s.twiceLocked(c), refused(http.StatusUnauthorized, "this address has been opened before, so nobody is let in by it any more. Paste the token that the program has printed. If the first one was not you, others on this machine have read the address")
	}
	session = s.beginLocked()
	c.used, c.session = true, digestOf(session)
	return session, false, nil
}

// spend uses a code up for the holder of a token or a session. If the code has let somebody else in, that session ends.
// again is true for the first of these uses.
func (s *sessions) spend(text, holder string) (again bool) {
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
	return s.twiceLocked(c)
}

// twiceLocked ends the session that the first use of a code was given, because of a second use. It returns false if there
// was another one before.
func (s *sessions) twiceLocked(c *code) (first bool) {
	first, c.twice = !c.twice, true
	s.open = slices.DeleteFunc(s.open, func(open digest) bool { return open == c.session })
	return first
}

// withdraw makes a code useless that has let nobody in yet.
func (s *sessions) withdraw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.codes[digestOf(text)]; c != nil && !c.used {
		delete(s.codes, digestOf(text))
	}
}

// ofToken returns the session of those who have given the token, which is one for all of them.
func (s *sessions) ofToken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.typed == "" || !s.hasLocked(digestOf(s.typed)) {
		s.typed = s.beginLocked()
	}
	return s.typed
}

// ended says why a session has ended, as far as that is known.
func (s *sessions) ended(session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.codes {
		if c.twice && c.session == digestOf(session) {
			return refused(http.StatusUnauthorized, "the address of this page was opened a second time, so nobody is let in by it any more. Paste the token that the program has printed. If the second one was not you, others on this machine have read the address")
		}
	}
	return nil
}

// serveSession exchanges a code, or the token, for a session. Without either, it says whether the session of the request is still good.
func (v *View) serveSession(w http.ResponseWriter, r *http.Request) (err error) {
	if err := sentByPage(r); err != nil {
		return err
	}
	var given struct {
		Code  string `json:"code"`
		Token string `json:"token"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxDo)).Decode(&given); err != nil {
		return refused(http.StatusBadRequest, "this is no code and no token: %w", err)
	}
	var answer struct {
		Session string `json:"session"`       // "" for none
		Why     string `json:"why,omitempty"` // it has ended
	}
	has, _ := bearer(r)
	again := false
	switch {
	case given.Token != "":
		if !v.isToken(given.Token) {
			return refused(http.StatusUnauthorized, "this is not the token that the program has printed")
		}
		answer.Session = v.sessions.ofToken()
	case v.authorized(r):
		again = v.sessions.spend(given.Code, has)
		answer.Session = has
	case given.Code != "":
		answer.Session, again, err = v.sessions.exchange(given.Code)
	default:
		if err := v.sessions.ended(has); err != nil {
			answer.Why = err.Error()
		}
	}
	if again {
		v.opts.Logger.Warn("an address of the view was opened a second time: nobody is let in by it any more", "from", r.RemoteAddr)
	}
	if err != nil {
		return err
	}
	return answerJSON(w, answer)
}

// bearer returns the token or the session of a request.
func bearer(r *http.Request) (string, bool) {
	return strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
}
