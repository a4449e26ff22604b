package lab_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

func TestButtonsThatWriteObjects(t *testing.T) {
	inBubble(t, lab.Options{}, func(t *testing.T, b harness) {
		require.Equal(t, 20, b.Store().Len())
		b.press("create", "n", "7")
		require.Equal(t, 27, b.Store().Len())
		before := b.Status()
		b.press("update", "n", "3")
		require.Equal(t, before.Reflector.Events+3, b.Status().Reflector.Events)
		b.press("delete", "n", "10")
		require.Equal(t, 17, b.Store().Len())
		before = b.Status()
		b.press("burst", "n", "25")
		require.Equal(t, before.Reflector.Events+25, b.Status().Reflector.Events)
		before = b.Status()
		b.press("other", "n", "10")
		require.Equal(t, before.Reflector.Events, b.Status().Reflector.Events, "writes to another resource must cause no event")
		require.NotEqual(t, before.Reflector.ResourceVersion, b.Server().ResourceVersion())

		b.press("rate", "n", "100")
		time.Sleep(time.Second)
		require.InDelta(t, before.Reflector.Events+100, b.Status().Reflector.Events, 10)
		require.Equal(t, map[string]string{"rate": "100"}, b.State())
		b.press("rate", "n", "0")
		b.press("hot", "n", "50")
		before = b.Status()
		time.Sleep(time.Second)
		require.InDelta(t, before.Reflector.Events+50, b.Status().Reflector.Events, 5)
		b.press("reset")
		before = b.Status()
		time.Sleep(time.Minute)
		require.Equal(t, before.Reflector.Events, b.Status().Reflector.Events)
		require.Empty(t, b.State())
	})
}

// Most of a laboratory's memory is the server's history. Window limits that history.
func TestServerKeepsAWindowOfChanges(t *testing.T) {
	for _, window := range []int{0, 50} {
		t.Run(strconv.Itoa(window), func(t *testing.T) {
			inBubble(t, lab.Options{Window: window}, func(t *testing.T, b harness) {
				number := func(version string) int {
					n, err := strconv.Atoi(version)
					require.NoError(t, err)
					return n
				}
				before := number(b.Server().ResourceVersion())
				b.press("burst", "n", "300")
				require.Equal(t, before+300, number(b.Server().ResourceVersion()))
				oldest := number(b.Server().OldestResourceVersion())
				if window == 0 {
					require.LessOrEqual(t, oldest, before, "the default window must keep all changes")
				} else {
					require.Equal(t, before+300-window, oldest)
				}
			})
		})
	}
}

func TestButtonsThatBreakTheWatch(t *testing.T) {
	inBubble(t, lab.Options{}, func(t *testing.T, b harness) {
		of := func() reflector.Status { return b.Status().Reflector }
		before := of()
		b.press("drop")
		time.Sleep(5 * time.Second)
		require.Equal(t, before.Relists, of().Relists, "the next watch must resume without a relist")
		require.Equal(t, reflector.Watching, of().Phase)

		for n, button := range []string{"expire", "relist"} {
			b.press(button)
			time.Sleep(10 * time.Second)
			require.Equal(t, before.Relists+uint64(n)+1, of().Relists, button)
		}
		b.press("vanish", "n", "4")
		time.Sleep(10 * time.Second)
		require.Equal(t, 16, b.Store().Len())
		require.Equal(t, before.Relists+3, of().Relists)

		b.press("throttle", "n", "2")
		time.Sleep(20 * time.Second)
		require.Equal(t, reflector.Watching, of().Phase)
		require.Contains(t, b.press("drop"), "1")

		b.press("delay", "ms", "3000")
		time.Sleep(5 * time.Second) // enough time for a bookmark to arrive
		events := of().Events
		b.press("burst", "n", "1")
		require.Equal(t, events, of().Events, "the delayed event must not have arrived yet")
		time.Sleep(15 * time.Second)
		require.Equal(t, events+1, of().Events)
		b.press("reset")

		b.press("skip", "n", "1")
		b.press("create", "n", "1")
		require.Equal(t, 16, b.Store().Len(), "the store must lack the pod whose event was lost")
		require.Equal(t, 17.0, b.box("server").Numbers["objects"])
		b.press("relist")
		time.Sleep(10 * time.Second)
		require.Equal(t, 17, b.Store().Len(), "a list must deliver the lost pod")
	})
}

func TestStagesCanBePaused(t *testing.T) {
	inBubble(t, lab.Options{}, func(t *testing.T, b harness) {
		for _, stage := range []struct {
			name string
			past func() uint64 // returns how many events or keys have passed the stage
		}{
			{"watch", func() uint64 { return b.Status().Reflector.Events }},
			{"fifo", func() uint64 { return b.Status().Store.Updated }},
			{"handlers", func() uint64 { return b.Status().Handlers[0].Delivered }},
			{"workers", func() uint64 { return uint64(b.box("workers").Numbers["done"]) }},
		} {
			t.Log(stage.name)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			b.press("pause", "stage", stage.name)
			before := stage.past()
			b.press("burst", "n", "1")
			require.Equal(t, before, stage.past(), "%s must be paused", stage.name)
			require.Equal(t, stage.name, b.State()["paused"])
			b.press("step", "stage", stage.name)
			if stage.name == "watch" { // A bookmark may have been the first event.
				b.press("step", "stage", stage.name)
			}
			require.Equal(t, before+1, stage.past(), "%s must let one event or key pass", stage.name)
			b.press("burst", "n", "1")
			b.press("resume", "stage", stage.name)
			time.Sleep(time.Second)
			require.Equal(t, before+2, stage.past(), "%s must continue", stage.name)
			require.Empty(t, b.State())
		}
	})
}

func TestInformerEndsWhileAStageIsPaused(t *testing.T) {
	for _, stage := range []string{"watch", "fifo", "handlers", "workers"} {
		t.Run(stage, func(t *testing.T) {
			inBubble(t, lab.Options{}, func(t *testing.T, b harness) {
				b.press("pause", "stage", stage)
				b.press("burst", "n", "3")
				b.press("crash")
				b.press("resume", "stage", stage)
				time.Sleep(time.Second)
				require.Equal(t, 20, b.Store().Len())
				b.press("pause", "stage", stage)
				b.press("update", "n", "5") // Run ends while the stage is paused.
			})
		})
	}
}

func TestButtonsThatRestartTheInformer(t *testing.T) {
	inBubble(t, lab.Options{}, func(t *testing.T, b harness) {
		key := types.NamespacedName{Namespace: "ns-0", Name: "pod-000000"}
		whole, ok := b.Store().Get(key)
		require.True(t, ok)
		require.NotEmpty(t, whole.Status)
		for _, c := range []struct {
			action, input, value string
			state                map[string]string
		}{
			{"crash", "", "", map[string]string{}},
			{"encoding", "encoding", "json", map[string]string{"encoding": "json"}},
			{"encoding", "encoding", "protobuf", map[string]string{"encoding": "protobuf"}},
			{"fetch", "how", "list", map[string]string{"encoding": "protobuf", "snapshot by": "list"}},
			{"fetch", "how", "paged", map[string]string{"encoding": "protobuf", "snapshot by": "paged"}},
			{"fetch", "how", "watchlist", map[string]string{"encoding": "protobuf", "snapshot by": "watchlist"}},
			{"omit", "parts", "status and managedFields", map[string]string{"encoding": "protobuf", "snapshot by": "watchlist", "left out": "status and managedFields"}},
			{"policy", "overflow", "block", map[string]string{"encoding": "protobuf", "snapshot by": "watchlist", "left out": "status and managedFields", "mailbox": "block"}},
			{"reset", "", "", map[string]string{}},
		} {
			before := b.Store()
			pairs := []string{c.input, c.value}
			if c.input == "" {
				pairs = nil
			}
			b.press(c.action, pairs...)
			require.NotSame(t, before, b.Store(), "%s", c.action)
			require.Equal(t, 20, b.Store().Len(), "%s", c.action)
			require.Equal(t, c.state, b.State())
			pod, _ := b.Store().Get(key)
			if c.state["left out"] != "" {
				require.Empty(t, pod.Status)
			} else {
				require.Equal(t, whole.Status, pod.Status)
			}
		}
	})
}

func TestButtonsOfHandlersAndWorkers(t *testing.T) {
	inBubble(t, lab.Options{}, func(t *testing.T, b harness) {
		handler := func() informer.HandlerStatus { return b.Status().Handlers[0] }
		before := handler()
		b.press("resync")
		require.Equal(t, before.Delivered+20, handler().Delivered)

		b.press("slow", "ms", "1000")
		before = handler()
		b.press("burst", "n", "10")
		require.Equal(t, before.Delivered, handler().Delivered)
		time.Sleep(30 * time.Second)
		require.Greater(t, handler().Delivered, before.Delivered)
		require.Zero(t, handler().Waiting)

		b.press("policy", "overflow", "block")
		time.Sleep(time.Minute)
		b.press("update", "n", "20")
		b.press("update", "n", "20")
		b.press("update", "n", "20")
		require.Equal(t, 32, handler().Waiting, "the mailbox must be full, so the informer waits")
		b.press("reset")
		time.Sleep(time.Minute)

		b.press("workers", "n", "2")
		b.press("work", "ms", "5000")
		b.press("update", "n", "10")
		require.Equal(t, 2.0, b.queue().Numbers["processing"])
		b.press("reset")
		time.Sleep(time.Minute)
		b.press("fail", "percent", "100")
		b.press("burst", "n", "1")
		time.Sleep(time.Second)
		require.Positive(t, b.queue().Numbers["retries"])
		b.press("fail", "percent", "0")
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		require.Zero(t, b.queue().Numbers["delayed"])
	})
}

func TestEveryActionHasAFunctionAndHelp(t *testing.T) {
	t.Parallel()
	l, err := lab.New(lab.Options{})
	require.NoError(t, err)
	ids, keys := map[string]bool{}, map[string]bool{}
	for _, a := range l.Actions() {
		require.False(t, ids[a.ID], a.ID)
		require.NotEmpty(t, a.Label)
		require.NotEmpty(t, a.Help)
		require.False(t, a.Key != "" && keys[a.Key], "two buttons have the key %s", a.Key)
		ids[a.ID], keys[a.Key] = true, true
		for _, i := range a.Inputs {
			require.NoError(t, i.Check(i.Default), "%s, %s", a.ID, i.ID)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = l.Do(ctx, "drop", nil)
	require.ErrorIs(t, err, context.Canceled, "Do must fail before Run")
	require.NoError(t, l.Run(ctx))
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, opts := range []lab.Options{{Workers: 17}, {Workers: -1}, {Rate: -1}, {Rate: 5001}, {Window: -1}, {View: view.Options{FrameInterval: 1}}, {View: view.Options{Server: func() view.Server { return view.Server{} }}}} {
		_, err := lab.New(opts)
		require.Error(t, err, "%+v", opts)
	}
}
