package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// patience is the number of failures in a row after which the reflector tries another kind of
// request.
const patience = 3

// request opens a streaming list (RC-14).
func (r *Reflector[T]) request(ctx context.Context, s *requesting[T]) (state[T], error) {
	r.beginSnapshot()
	r.record.update(func(st *Status) { st.StreamingLists++ })
	opts := listwatch.WatchOptions{SendInitialEvents: true, Known: r.known(), Held: r.held()}
	if s.at != "0" { // a streaming list requests any version by "" (RC-14)
		opts.ResourceVersion = s.at
	}
	watch, err := r.open(ctx, opts, r.opts.ListProgressTimeout, ErrNoProgress)
	if err != nil {
		return r.streamFailed(s.at, err)
	}
	r.snapshots.Reached()
	return &streaming[T]{at: s.at, watch: watch}, nil
}

// collect processes one event of a streaming list. At the end marker it hands over the collected
// objects, and the same stream goes on as a watch (RC-15 to RC-17).
func (r *Reflector[T]) collect(s *streaming[T]) (state[T], error) {
	event, err := s.watch.next()
	unread, isUnread := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case isUnread && unread.Type == listwatch.Deleted && unread.Key.Name == "":
		// An object is gone, and only the next list shows which.
		s.watch.close()
		return r.retry(&r.snapshots, err, r.snapshot(s.at)), err
	case isUnread:
		r.skip(Streaming, unread)
		s.took(unread.Type, unread.Key, unread.ResourceVersion)
		s.items.skip(unread)
		return s, nil
	case err == io.EOF && time.Since(s.watch.opened) >= s.watch.timeout:
		s.watch.close()
		return r.streamFailed(s.at, r.about(ErrNoProgress))
	case err != nil:
		s.watch.close()
		return r.streamFailed(s.at, err)
	}

	r.eventReceived(Streaming, event)
	s.took(event.Type, event.Key, event.ResourceVersion)
	switch event.Type {
	case listwatch.Added, listwatch.Modified:
		s.items.put(event.Item)
	case listwatch.Deleted:
		s.items.remove(event.Key)
	case listwatch.Bookmark:
		if event.InitialEventsEnd {
			s.watch.endAfter(r.opts.WatchIdleTimeout, r.about(ErrIdle))
			version := event.ResourceVersion
			return r.handOver(s.items.items, s.items.unread, version, &watching[T]{version: version, watch: s.watch, heard: true})
		}
	}
	r.eventDone(event, len(s.items.items))
	return s, nil
}

// took records whether an event brings the streaming list nearer to its end marker. Only an event
// that lists an existing object does: it is Added, its key is new, and it is older than every
// change so far. Changes do not count: without this rule, a server that sends changes but never an
// end marker would keep the list open for ever.
func (s *streaming[T]) took(event listwatch.EventType, key types.NamespacedName, version string) {
	_, again := s.items.index[key]
	if event == listwatch.Added && !again && (!s.changes || older(version, s.newest)) {
		return
	}
	s.watch.silence.Load().inVain()
	if event != listwatch.Bookmark {
		s.changes = true
		if s.newest == "" || older(s.newest, version) {
			s.newest = version
		}
	}
}

// streamFailed decides how to go on after a streaming list has failed (RC-18).
func (r *Reflector[T]) streamFailed(at string, err error) (state[T], error) {
	endedEarly := err == io.EOF
	if endedEarly {
		err = fmt.Errorf("the streaming list ended before its end marker: %w", io.ErrUnexpectedEOF)
	}
	switch {
	case errors.Is(err, ErrOtherHistory) && !r.doubt.other:
		return r.otherHistory(err)
	case (IsExpired(err) || IsTooLarge(err)) && at != "":
		return r.atOnce(&r.snapshots, err, r.snapshot("")), err
	case errors.Is(err, ErrNoProgress), errors.Is(err, ErrOverdue), isUnsupported(err):
		// The server would refuse the next streaming list as well (D6).
		r.mode = List
		r.record.update(func(st *Status) { st.ListMode = List })
		return r.atOnce(&r.snapshots, err, r.snapshot(at)), err
	case isBusy(err), isOversized(err), endedEarly && (r.snapshots.failures+1)%patience != 0:
		return r.retry(&r.snapshots, err, r.snapshot(at)), err
	default:
		return r.retry(&r.snapshots, err, &listing[T]{at: at}), err
	}
}

// collection has the objects of a streaming list so far.
type collection[T any] struct {
	unread unreadables
	items  []listwatch.Item[T]
	index  map[types.NamespacedName]int // index of a key's item
}

// put adds an item, or replaces the item of the same key.
func (c *collection[T]) put(item listwatch.Item[T]) {
	c.unread.remove(item.Key)
	if i, ok := c.index[item.Key]; ok {
		c.items[i] = item
		return
	}
	if c.index == nil {
		c.index = make(map[types.NamespacedName]int)
	}
	c.index[item.Key] = len(c.items)
	c.items = append(roomForOne(c.items), item)
}

// remove removes the item of a key. The last item moves to its place.
func (c *collection[T]) remove(key types.NamespacedName) {
	c.unread.remove(key)
	i, ok := c.index[key]
	if !ok {
		return
	}
	last := len(c.items) - 1
	c.items[i] = c.items[last]
	c.index[c.items[i].Key] = i
	c.items[last] = listwatch.Item[T]{}
	c.items = c.items[:last]
	delete(c.index, key)
}

// skip records an undecodable object. If the event is a deletion, the object leaves the collection;
// otherwise its last decodable state stays.
func (c *collection[T]) skip(unread *listwatch.ObjectError) {
	_, ok := c.index[unread.Key]
	switch {
	case unread.Type == listwatch.Deleted:
		c.remove(unread.Key)
		return
	case !ok && unread.Key.Name != "":
		c.put(unchanged[T](unread))
	}
	c.unread.add(unread)
}
