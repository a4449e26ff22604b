package reflector

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// journal records events, one per line, each with the time since the journal was made. Tests
// compare it with the expected lines.
type journal struct {
	began time.Time

	mu    sync.Mutex // guards following
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%v ", time.Since(j.began))+fmt.Sprintf(format, args...))
}

func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// reply is the response to one request. play has items, events and errors, and durations of
// silence. After the last element, a list ends, and a watch stays open until its context ends.
type reply struct {
	refuse error
	play   []any
	meta   listwatch.ListMeta
}

// script is a Source that plays replies. When no reply is left, it is silent.
type script struct {
	journal     *journal
	lists       []reply
	watches     []reply
	open        int // streams that have not been closed
	contexts    []context.Context
	options     []listwatch.WatchOptions
	bytesBefore []int64 // ListOptions.Bytes of each list, when it was requested
}

func (s *script) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[string], error) {
	if opts.Continue != "" {
		s.journal.add("list %s/%s limit=%d", opts.Continue, opts.ResourceVersion, opts.Limit)
	} else if opts.ResourceVersionMatch != "" {
		s.journal.add("list %q limit=%d %s", opts.ResourceVersion, opts.Limit, opts.ResourceVersionMatch)
	} else {
		s.journal.add("list %q limit=%d", opts.ResourceVersion, opts.Limit)
	}
	if opts.VersionOnly {
		opts.Bytes = new(atomic.Int64)
	}
	s.bytesBefore = append(s.bytesBefore, opts.Bytes.Load())
	r, err := s.next(ctx, &s.lists)
	opts.Bytes.Add(r.meta.Bytes)
	if err != nil {
		return nil, err
	}
	return &listStream{known: opts.Known, stream: s.stream(ctx, append(r.play, io.EOF)), meta: r.meta}, nil
}

func (s *script) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[string], error) {
	verb := "watch"
	if opts.SendInitialEvents {
		verb = "stream"
	}
	s.journal.add("%s %q", verb, opts.ResourceVersion)
	s.options = append(s.options, opts)
	r, err := s.next(ctx, &s.watches)
	if err != nil {
		return nil, err
	}
	return &watchStream{stream: s.stream(ctx, r.play)}, nil
}

func (s *script) next(ctx context.Context, replies *[]reply) (reply, error) {
	s.contexts = append(s.contexts, ctx)
	if len(*replies) == 0 {
		<-ctx.Done()
		return reply{}, ctx.Err()
	}
	r := (*replies)[0]
	*replies = (*replies)[1:]
	return r, r.refuse
}

func (s *script) stream(ctx context.Context, play []any) *stream {
	s.open++
	return &stream{ctx: ctx, play: play, closed: func() { s.open-- }}
}

// stream plays one reply.
type stream struct {
	ctx    context.Context
	play   []any
	closed func()
}

func (s *stream) next() (any, error) {
	for {
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		if len(s.play) == 0 {
			<-s.ctx.Done()
			continue
		}
		next := s.play[0]
		if err, ok := next.(error); ok {
			if _, goesOn := err.(*listwatch.ObjectError); goesOn {
				s.play = s.play[1:]
			}
			return nil, err
		}
		s.play = s.play[1:]
		if pause, ok := next.(time.Duration); ok {
			sleep(s.ctx, pause, nil)
			continue
		}
		return next, nil
	}
}

func (s *stream) Close() error {
	if s.closed != nil {
		s.closed()
		s.closed = nil
	}
	return nil
}

type listStream struct {
	*stream
	known func(types.NamespacedName, string, uint64) bool
	meta  listwatch.ListMeta
}

func (s *listStream) Next() (listwatch.Item[string], error) {
	next, err := s.next()
	if err != nil {
		return listwatch.Item[string]{}, err
	}
	it := next.(listwatch.Item[string])
	if s.known != nil && s.known(it.Key, it.ResourceVersion, it.UIDHash) {
		it.Object, it.State = "", listwatch.Unchanged
	}
	return it, nil
}

func (s *listStream) Meta() listwatch.ListMeta { return s.meta }

type watchStream struct{ *stream }

func (s *watchStream) Next() (listwatch.Event[string], error) {
	next, err := s.next()
	if err != nil {
		return listwatch.Event[string]{}, err
	}
	return next.(listwatch.Event[string]), nil
}

// mirror is a Sink that keeps the versions of the objects it gets.
type mirror struct {
	journal *journal
	fail    []error // the results of the next calls; nil means success

	mu      sync.Mutex                      // guards following
	content map[types.NamespacedName]string // resourceVersions
}

// now returns the content while the reflector runs.
func (m *mirror) now() map[types.NamespacedName]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.content)
}

func (m *mirror) HasVersion(key types.NamespacedName, version string, _ uint64) bool {
	return m.content[key] == version
}

func (m *mirror) HeldObject(key types.NamespacedName) any { return m.content[key] }

func (m *mirror) Replace(snapshot listwatch.Snapshot[string]) error {
	verb := "replace"
	if snapshot.OtherHistory {
		verb = "restore"
	}
	words := []string{fmt.Sprintf("%s %q:", verb, snapshot.ResourceVersion)}
	content := map[types.NamespacedName]string{}
	for _, it := range snapshot.Items {
		word := it.Key.Name + "@" + it.ResourceVersion
		if it.State != listwatch.Decoded {
			word += "="
			it.ResourceVersion = m.content[it.Key]
		}
		words = append(words, word)
		_, held := m.content[it.Key]
		if held || it.State == listwatch.Decoded {
			content[it.Key] = it.ResourceVersion
		}
	}
	if snapshot.NamesMissing {
		words = append(words, "names missing")
	}
	for key, version := range m.content {
		if _, listed := content[key]; snapshot.NamesMissing && !listed {
			content[key] = version
		}
	}
	m.journal.add("%s", strings.Join(words, " "))
	if err := m.failure(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.content = content
	return nil
}

func (m *mirror) Apply(ev listwatch.Event[string]) error {
	word := fmt.Sprintf("%s %s@%s", strings.ToLower(ev.Type.String()), ev.Key.Name, ev.ResourceVersion)
	if ev.State != listwatch.Decoded {
		word += "="
	}
	m.journal.add("%s", word)
	if err := m.failure(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch ev.Type {
	case listwatch.Deleted:
		delete(m.content, ev.Key)
	case listwatch.Added, listwatch.Modified:
		m.content[ev.Key] = ev.ResourceVersion
	}
	return nil
}

func (m *mirror) failure() error {
	if len(m.fail) == 0 {
		return nil
	}
	err := m.fail[0]
	m.fail = m.fail[1:]
	return err
}

// rig is a reflector between a script and a mirror. Its waits have no random part. It compares
// histories only in tests of comparisons.
type rig struct {
	*journal
	source    *script
	sink      *mirror
	reflector *Reflector[string]
	reported  []Error
}

func newRig(opts Options) *rig {
	j := &journal{began: time.Now()}
	g := &rig{journal: j, source: &script{journal: j}, sink: &mirror{journal: j, content: map[types.NamespacedName]string{}}}
	opts.Backoff.Jitter = -1
	opts.SkipComparison = true
	opts.OnError = func(e Error) {
		g.reported = append(g.reported, e)
		j.add("%v", e)
	}
	var err error
	if g.reflector, err = New(g.source, g.sink, opts); err != nil {
		panic(err)
	}
	return g
}

// run runs the reflector for a time, and checks the journal. The test must run in a bubble.
func (g *rig) run(t *testing.T, d time.Duration, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	require.NoError(t, g.reflector.Run(ctx))
	require.Equal(t, d, time.Since(g.began), "Run must return when its context ends")
	require.Equal(t, want, g.take())
	require.Zero(t, g.source.open, "every stream must be closed")
}

// bubble runs f in a bubble of virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

func key(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }

// item makes an item of "name@version".
func item(s string) listwatch.Item[string] {
	name, version, _ := strings.Cut(s, "@")
	return listwatch.Item[string]{Key: key(name), ResourceVersion: version, Object: s}
}

func event(t listwatch.EventType, s string) listwatch.Event[string] {
	return listwatch.Event[string]{Type: t, Item: item(s)}
}

func added(s string) listwatch.Event[string]    { return event(listwatch.Added, s) }
func modified(s string) listwatch.Event[string] { return event(listwatch.Modified, s) }
func deleted(s string) listwatch.Event[string]  { return event(listwatch.Deleted, s) }

func bookmark(version string) listwatch.Event[string] {
	return listwatch.Event[string]{Type: listwatch.Bookmark, Item: listwatch.Item[string]{ResourceVersion: version}}
}

func endMarker(version string) listwatch.Event[string] {
	ev := bookmark(version)
	ev.InitialEventsEnd = true
	return ev
}

// page is a page of a list: its version, its items, and the token of the next page.
func page(version, token string, items ...string) reply {
	r := reply{meta: listwatch.ListMeta{ResourceVersion: version, Continue: token}}
	for _, it := range items {
		r.play = append(r.play, item(it))
	}
	return r
}

func whole(version string, items ...string) reply { return page(version, "", items...) }
func refuse(err error) reply                      { return reply{refuse: err} }
func play(play ...any) reply                      { return reply{play: play} }
func times(n int, r reply) []reply                { return slices.Repeat([]reply{r}, n) }
