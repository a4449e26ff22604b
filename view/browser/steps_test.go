package browser

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A user chooses replies of the server, and sees the reactions of the reflector. They match the
// table that the reflector's own code has generated.
func TestStateMachineIsSteppedThrough(t *testing.T) {
	_, p := laboratory(t, 1440, 1200)
	const state = `document.querySelector(".steps-status h3")?.textContent`
	last := func() string {
		return eval[string](p, `document.querySelector(".steps-log > li")?.textContent ?? ""`)
	}
	choose := func(reply, next string) {
		t.Helper()
		eval[any](p, `document.querySelector(".replies [data-reply=`+quoteCSS(reply)+`]").click()`)
		require.Equal(t, next, eval[string](p, state))
	}
	begin := func(name string) {
		t.Helper()
		eval[any](p, `{ const s = document.querySelector(".steps-tools select"); s.value = [...s.options].find((o) => o.textContent === `+quote(name)+`).value; s.dispatchEvent(new Event("change")) }`)
		require.Equal(t, name, eval[string](p, state))
	}
	p.key("k")
	p.until(state + ` === 'listing at "0"'`)
	p.until(`document.querySelector(".steps .counts").textContent.includes("is watching now")`)
	choose("all that there is", `connecting at "10"`)
	require.Contains(t, last(), `replace "12": b@2`)
	choose("all that there is", `watching from "10", nothing heard yet`)
	choose("a change", `watching from "10"`)
	choose("410 Gone", `listing at "10"`)
	require.NotContains(t, last(), "It waits", "the reflector must list at once after the first 410")
	p.shoot("steps-light")
	choose("all that there is", `connecting at "10"`)
	require.Contains(t, eval[string](p, `document.querySelector(".steps-status").textContent`), "1 failure in a row", "a list must not reset the failures of a watch")

	// The third consecutive failure has another effect than the first one.
	const over = "The wait is over"
	begin(`connecting at "10"`)
	choose("500 Internal Error", "backing off")
	require.Contains(t, last(), "It waits 800 ms.")
	choose(over, `connecting at "10", after a lost watch`)
	require.Contains(t, eval[string](p, `document.querySelector(".steps-status").textContent`), "1 failure in a row")
	choose("500 Internal Error", "backing off")
	require.Contains(t, last(), "It waits 1.6 s.")
	choose(over, `connecting at "10", after a lost watch`)
	choose("500 Internal Error", "backing off")
	require.Contains(t, last(), "It waits 3.2 s.")
	choose(over, `listing at "10"`)
	eval[any](p, `[...document.querySelectorAll(".steps-tools button")].find((b) => b.textContent === "Back").click()`)
	require.Equal(t, "backing off", eval[string](p, state))
	choose(over, `listing at "10"`)
	choose("the end of the context", "stopped")
	require.Zero(t, eval[int](p, `document.querySelectorAll(".replies button").length`))

	// A 410 after failures of another kind counts as the first 410: the reflector lists at once.
	begin(`watching from "10", nothing heard yet`)
	choose("connection lost", "backing off")
	choose(over, `connecting at "10", after a lost watch`)
	choose("all that there is", `comparing at "10", version not told yet`)
	begin(`connecting at "10"`)
	choose("410 Gone", `listing at "10"`)
	choose("all that there is", `connecting at "10"`)
	choose("410 Gone", "backing off")
	require.Contains(t, last(), "It waits 1.6 s.", "the failures before the list must count")

	// A lost watch, then the same replies as before.
	begin(`watching from "10"`)
	choose("connection lost", "backing off")
	choose(over, `connecting at "10", after a lost watch`)
	choose("all that there is", `comparing at "10", version not told yet`)
	choose("all that there is", `comparing at "10", before a@10 comes again`)
	choose("the last event again", `watching from "10"`)
}

// Every reply in every state leads to the state that the table names, and the drawing has that
// state.
func TestStateMachineHasTheWholeTable(t *testing.T) {
	body, err := os.ReadFile("../page/steps.json")
	require.NoError(t, err)
	var table struct {
		States []struct {
			Name, Phase string
			Replies     []struct {
				Name     string
				Outcomes []struct {
					Wait float64
					Next string
					Row  int
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(body, &table))
	require.Greater(t, len(table.States), 15)
	_, p := laboratory(t, 390, 844, "prefers-color-scheme:dark")
	eval[any](p, `document.getElementById("tab-steps").click()`)
	p.until(`document.querySelector(".steps-tools option")`)
	type seen struct{ State, Reply, Log, Next, Here string }
	all := eval[[]seen](p, `(() => {
		const all = [], select = document.querySelector(".steps-tools select"), at = (q) => document.querySelector(q)?.textContent ?? "";
		const begin = (n) => { select.value = n; select.dispatchEvent(new Event("change")); };
		for (let n = 0; n < select.options.length; n++) {
			begin(n);
			for (const reply of [...document.querySelectorAll(".replies button")].map((b) => b.dataset.reply)) {
				begin(n);
				const State = at(".steps-status h3");
				[...document.querySelectorAll(".replies button")].find((b) => b.dataset.reply === reply).click();
				all.push({ State, Reply: reply, Log: at(".steps-log > li"), Next: at(".steps-status h3"), Here: at(".phase.here text") });
			}
		}
		return all;
	})()`)
	n := 0
	for _, s := range table.States {
		replies := map[string]int{}
		for i, r := range s.Replies {
			replies[r.Name] = i
		}
		for range s.Replies {
			got := all[n]
			n++
			require.Equal(t, s.Name, got.State)
			i, known := replies[got.Reply]
			require.True(t, known, got.Reply)
			delete(replies, got.Reply)
			first := s.Replies[i].Outcomes[0]
			switch {
			case first.Row < 0:
				require.Equal(t, "stopped", got.Next)
			case first.Wait > 0:
				require.Equal(t, "backing off", got.Next)
				require.Contains(t, got.Log, first.Next)
			default:
				require.Equal(t, table.States[first.Row].Name, got.Next, "%s, %s", s.Name, got.Reply)
				require.Contains(t, got.Here, table.States[first.Row].Phase)
			}
		}
		require.Empty(t, replies)
	}
	require.Len(t, all, n)
	require.True(t, eval[bool](p, `document.documentElement.scrollWidth <= innerWidth`))
	p.shoot("steps-dark-phone")
}

// quoteCSS quotes an attribute value for a selector inside a JavaScript string.
func quoteCSS(s string) string { return "'" + s + "'" }
