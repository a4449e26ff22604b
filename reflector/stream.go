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

// failuresBeforeSwitch is the number of consecutive failures after which the reflector tries
// another kind of request.
const failuresBeforeSwitch = 3

// openStreamingList opens a streaming list (RC-14).
func (r *Reflector[T]) openStreamingList(ctx context.Context, s *requesting[T]) (state[T], error) {
	r.beginSnapshot()
	r.record.update(func(st *Status) { st.StreamingLists++ })
	opts := listwatch.WatchOptions{SendInitialEvents: true, Known: r.known(), Held: r.sink.HeldObject}
	if s.requestedVersion != "0" { // "" requests any version from a streaming list (RC-14)
		opts.ResourceVersion = s.requestedVersion
	}
	watch, err := r.open(ctx, opts, r.opts.ListProgressTimeout, ErrNoProgress)
	if err != nil {
		return r.streamFailed(s.requestedVersion, err)
	}
	r.snapshots.Reached()
	return &streaming[T]{requestedVersion: s.requestedVersion, watch: watch}, nil
}

// readStreamingList processes one event of a streaming list. At the end marker it hands over the
// collected objects, and the same stream goes on as a watch (RC-15 to RC-17).
func (r *Reflector[T]) readStreamingList(s *streaming[T]) (state[T], error) {
	event, err := s.watch.next()
	undecodable, isUndecodable := errors.AsType[*listwatch.ObjectError](err)
	switch {
	case isUndecodable && undecodable.Type == listwatch.Deleted && undecodable.Key.Name == "":
		// An object is gone, and only the next list shows which.
		s.watch.close()
		return r.retry(&r.snapshots, err, r.snapshot(s.requestedVersion)), err
	case isUndecodable:
		r.reportUndecodable(Streaming, undecodable)
		s.recordProgress(undecodable.Type, undecodable.Key, undecodable.ResourceVersion)
		s.items.addUndecodable(undecodable)
		return s, nil
	case err == io.EOF && time.Since(s.watch.opened) >= s.watch.timeout:
		s.watch.close()
		return r.streamFailed(s.requestedVersion, r.withSourceName(ErrNoProgress))
	case err != nil:
		s.watch.close()
		return r.streamFailed(s.requestedVersion, err)
	}

	r.eventReceived(Streaming, event)
	s.recordProgress(event.Type, event.Key, event.ResourceVersion)
	switch event.Type {
	case listwatch.Added, listwatch.Modified:
		s.items.put(event.Item)
	case listwatch.Deleted:
		s.items.remove(event.Key)
	case listwatch.Bookmark:
		if event.InitialEventsEnd {
			s.watch.endAfter(r.opts.WatchIdleTimeout, r.withSourceName(ErrIdle))
			version := event.ResourceVersion
			return r.handOver(s.items.items, s.items.undecodable, version, &watching[T]{version: version, watch: s.watch, received: true})
		}
	}
	r.eventDone(event, len(s.items.items))
	return s, nil
}

// recordProgress records whether an event is progress towards the end marker of the streaming list.
// Only an event that lists an existing object is progress: it is Added, its key is new, and it is
// older than every change so far. Changes do not count. Otherwise a server that sends changes, but
// never an end marker, could keep the list open for ever.
func (s *streaming[T]) recordProgress(event listwatch.EventType, key types.NamespacedName, version string) {
	_, seen := s.items.index[key]
	if event == listwatch.Added && !seen && (!s.sawChange || older(version, s.newestChange)) {
		return
	}
	s.watch.silence.Load().ignoreLast()
	if event != listwatch.Bookmark {
		s.sawChange = true
		if s.newestChange == "" || older(s.newestChange, version) {
			s.newestChange = version
		}
	}
}

// streamFailed returns the next state after the failure of a streaming list (RC-18).
func (r *Reflector[T]) streamFailed(at string, err error) (state[T], error) {
	endedEarly := err == io.EOF
	if endedEarly {
		err = fmt.Errorf("the streaming list ended before its end marker: %w", io.ErrUnexpectedEOF)
	}
	switch {
	case errors.Is(err, ErrOtherHistory) && !r.historyCheck.otherHistory:
		return r.sourceHasOtherHistory(err)
	case (IsExpired(err) || IsTooLarge(err)) && at != "":
		return r.retryAtOnce(&r.snapshots, err, r.snapshot("")), err
	case errors.Is(err, ErrNoProgress), errors.Is(err, ErrOverdue), isUnsupported(err):
		// The server would refuse the next streaming list as well (D6).
		r.mode = List
		r.record.update(func(st *Status) { st.ListMode = List })
		return r.retryAtOnce(&r.snapshots, err, r.snapshot(at)), err
	case isBusy(err), isOversized(err), endedEarly && (r.snapshots.failures+1)%failuresBeforeSwitch != 0:
		return r.retry(&r.snapshots, err, r.snapshot(at)), err
	default:
		return r.retry(&r.snapshots, err, &listing[T]{requestedVersion: at}), err
	}
}

// streamedItems has the objects that a streaming list has sent so far.
type streamedItems[T any] struct {
	undecodable undecodableSet
	items       []listwatch.Item[T]
	index       map[types.NamespacedName]int // index of a key's item
}

// put adds an item, or replaces the item of the same key.
func (s *streamedItems[T]) put(item listwatch.Item[T]) {
	s.undecodable.remove(item.Key)
	if i, ok := s.index[item.Key]; ok {
		s.items[i] = item
		return
	}
	if s.index == nil {
		s.index = make(map[types.NamespacedName]int)
	}
	s.index[item.Key] = len(s.items)
	s.items = append(growForOne(s.items), item)
}

// remove removes the item of a key. The last item moves to its place.
func (s *streamedItems[T]) remove(key types.NamespacedName) {
	s.undecodable.remove(key)
	i, ok := s.index[key]
	if !ok {
		return
	}
	last := len(s.items) - 1
	s.items[i] = s.items[last]
	s.index[s.items[i].Key] = i
	s.items[last] = listwatch.Item[T]{}
	s.items = s.items[:last]
	delete(s.index, key)
}

// addUndecodable records an undecodable object. If the event is a deletion, it removes the object.
// Otherwise the last decodable state stays.
func (s *streamedItems[T]) addUndecodable(undecodable *listwatch.ObjectError) {
	_, ok := s.index[undecodable.Key]
	switch {
	case undecodable.Type == listwatch.Deleted:
		s.remove(undecodable.Key)
		return
	case !ok && undecodable.Key.Name != "":
		s.put(undecodableItem[T](undecodable))
	}
	s.undecodable.add(undecodable)
}
