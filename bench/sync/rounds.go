package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/kinform/kinform/bench/internal/subject"
)

// syncKinds returns the clients whose sync is measured; compared clients are next to each other.
func syncKinds(rows selection) (kinds []kind) {
	if rows["dropin"] {
		return dropinKinds()
	}
	for _, encoding := range []string{subject.Protobuf, subject.JSON} {
		if rows["sync"] || rows["relist"] {
			kinds = append(kinds, kind{raw, encoding, subject.List, subject.Full})
			for _, mode := range []string{subject.List, subject.WatchList} {
				kinds = append(kinds, sides(encoding, mode, subject.Full)...)
			}
		}
	}
	if rows["heap"] {
		for _, shape := range []string{subject.Stripped, subject.Metadata} {
			kinds = append(kinds, sides(subject.Protobuf, subject.List, shape)...)
		}
		for _, encoding := range []string{subject.Protobuf, subject.JSON} {
			kinds = append(kinds, sides(encoding, subject.List, subject.Transformed)...)
		}
	}
	return kinds
}

// watchKinds returns the clients whose watch is measured. Each has only one mode of listing,
// because the mode does not affect the watch.
func watchKinds(rows selection) (kinds []kind) {
	if rows["dropin"] {
		return slices.DeleteFunc(dropinKinds(), func(k kind) bool { return !k.watches() })
	}
	for _, encoding := range []string{subject.Protobuf, subject.JSON} {
		kinds = append(kinds, kind{raw, encoding, subject.List, subject.Full})
		kinds = append(kinds, sides(encoding, subject.List, subject.Full)...)
	}
	return kinds
}

// sides returns the programs that support these values. Compared programs are next to each other,
// in either direction.
func sides(encoding, mode, shape string) []kind {
	all := []kind{{clientgo, encoding, mode, shape}, {kinform, encoding, mode, shape}, {withoutSharing, encoding, mode, shape}}
	if encoding == subject.JSON && mode == subject.List && shape == subject.Full {
		all = append(all, kind{plain, encoding, mode, shape})
	}
	return all
}

// warm makes the server encode everything in JSON. The server caches the result.
func (l *environment) warm() error {
	c, _, err := l.start(kind{raw, subject.JSON, subject.List, subject.Full}, false)
	if err != nil {
		return err
	}
	return c.stop()
}

// syncRound runs each kind once.
func (l *environment) syncRound(kinds []kind, relist bool, into results) error {
	for _, k := range kinds {
		l.steps.Next("%v", k)
		runtime.GC() // so that the server does not collect garbage during the measurement
		c, synced, err := l.start(k, false)
		if err != nil {
			return err
		}
		into.add(k, syncWall, synced.Wall.Seconds())
		into.add(k, syncCPU, synced.CPU.Seconds())
		into.add(k, peakRSS, float64(synced.PeakRSS))
		into.add(k, liveHeap, float64(synced.Heap)/float64(l.server.pods))
		if relist && k.watches() && k.program != raw && k.shape != subject.Stripped && k.shape != subject.Metadata {
			if err := l.relist(c, into); err != nil {
				c.kill()
				return err
			}
		}
		if err := c.stop(); err != nil {
			return err
		}
	}
	return nil
}

// relist measures a list of pods that the client already has.
func (l *environment) relist(c *client, into results) error {
	version, err := l.server.advance()
	if err != nil {
		return err
	}
	done, _, err := c.command("relist "+version, l.server.expire)
	if err != nil {
		return err
	}
	into.add(c.kind, relistBytes, float64(done.Allocated))
	into.add(c.kind, relistCPU, done.CPU.Seconds())
	return nil
}

// watchRound sends each kind the same updates.
func (l *environment) watchRound(kinds []kind, updates int, into results) (err error) {
	// The first client that reads an update in JSON waits for its encoding. raw is this client.
	kinds = append([]kind{{raw, subject.JSON, subject.List, subject.Full}}, kinds...)
	var clients []*client
	defer func() {
		if err != nil {
			for _, c := range clients {
				c.kill()
			}
		}
	}()
	for _, k := range kinds {
		c, _, err := l.start(k, true)
		if err != nil {
			return err
		}
		clients = append(clients, c)
		if err := l.server.waitUntilHeld(c.name); err != nil {
			return err
		}
	}
	if err := l.server.update(updates); err != nil {
		return err
	}
	for i, c := range clients {
		runtime.GC()
		done, begin, err := c.command(fmt.Sprint("expect ", updates), func() error {
			l.server.release(c.name)
			return nil
		})
		if err != nil {
			return err
		}
		if i > 0 {
			into.add(c.kind, eventRate, float64(updates)/done.At.Sub(begin).Seconds())
			into.add(c.kind, eventCPU, done.CPU.Seconds()/float64(updates))
		}
		if err := c.stop(); err != nil {
			return err
		}
	}
	return nil
}

// selection is the set of groups of rows to measure.
type selection map[string]bool

var (
	usual  = []string{"sync", "heap", "watch", "relist"}
	groups = append(usual, "dropin")
)

func parseSelection(list string) (selection, error) {
	rows := make(selection)
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(groups, name) {
			return nil, errors.New("-rows: " + name + " is none of " + strings.Join(groups, ", "))
		}
		rows[name] = true
	}
	return rows, nil
}
