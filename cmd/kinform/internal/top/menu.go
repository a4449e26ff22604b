package top

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kinform/kinform/view"
)

// menu lists the actions of the laboratory, which the first line of the stream describes.
type menu struct {
	actions  []view.Action
	selected int
	inputs   bool // The user edits the inputs of the selected action.
	input    int
	busy     int // number of actions in progress
	values   map[string]map[string]string
}

// actionResult is the result of an action.
type actionResult struct {
	message string
	err     error
}

// load loads the actions of a page: first the actions for the whole picture, then the actions of
// each box. It keeps input values that the user has set.
func (m *menu) load(h *view.Hello) {
	m.actions, m.inputs, m.input = nil, false, 0
	add := func(box string) {
		for _, a := range h.Actions {
			if a.Box == box {
				m.actions = append(m.actions, a)
			}
		}
	}
	add("")
	for _, b := range h.Boxes {
		add(b.ID)
	}
	m.selected = min(m.selected, max(len(m.actions)-1, 0))
	for _, a := range m.actions {
		if m.values[a.ID] == nil {
			m.values[a.ID] = map[string]string{}
		}
		for _, i := range a.Inputs {
			if _, known := m.values[a.ID][i.ID]; !known {
				m.values[a.ID][i.ID] = i.Default
			}
		}
	}
}

// openMenu shows the list, and selects the first action of the selected box.
func (s *screen) openMenu() {
	if len(s.menu.actions) == 0 {
		s.showMessage("This program has no laboratory, so it cannot be changed. kinform top without arguments has a laboratory.", false)
		return
	}
	s.setMode(actionsMode)
	s.menu.inputs = false
	if s.box > 0 && s.box <= len(s.hello.Boxes) {
		for n, a := range s.menu.actions {
			if a.Box == s.hello.Boxes[s.box-1].ID {
				s.menu.selected = n
				break
			}
		}
	}
}

// pressable reports whether an action can be performed by its key. A key of the program itself has
// precedence, as on the page.
func (s *screen) pressable(key string) bool {
	switch key {
	case "t", "i", "l", "m", "v", "q", "?", "1", "2", "3", "4", "5", "6", "7":
		return false
	}
	return true
}

// press performs the action of a key.
func (s *screen) press(key string) {
	for _, a := range s.menu.actions {
		if a.Key == key && key != "" && s.pressable(key) {
			s.perform(a)
			return
		}
	}
}

// perform performs an action with the input values that the user set last.
func (s *screen) perform(a view.Action) {
	if s.page.token == "" {
		s.showMessage("✗ To press buttons, give the printed address with the code at its end, or --token-file.", true)
		return
	}
	values := maps.Clone(s.menu.values[a.ID])
	for _, i := range a.Inputs {
		if err := i.Check(values[i.ID]); err != nil {
			s.showMessage("✗ "+a.Label+": "+safe(err.Error()), true)
			return
		}
	}
	s.menu.busy++
	s.showMessage(a.Label+" …", false)
	page := s.page
	s.start(func(ctx context.Context) any {
		said, err := page.do(ctx, a.ID, values)
		return actionResult{said, err}
	})
}

func (s *screen) menuKey(name string) bool {
	m := &s.menu
	if len(m.actions) == 0 {
		return false
	}
	a := m.actions[m.selected]
	if m.inputs {
		return s.inputKey(a, name)
	}
	switch name {
	case "up":
		m.selected = (m.selected + len(m.actions) - 1) % len(m.actions)
	case "down":
		m.selected = (m.selected + 1) % len(m.actions)
	case "home":
		m.selected = 0
	case "end":
		m.selected = len(m.actions) - 1
	case "enter":
		if len(a.Inputs) > 0 {
			m.inputs, m.input = true, 0
			return true
		}
		s.perform(a)
		s.setMode(boxesMode)
	default:
		return false
	}
	return true
}

// inputKey edits an input: keys for digits change a number, and the arrow keys select a choice.
func (s *screen) inputKey(a view.Action, name string) bool {
	m := &s.menu
	i := a.Inputs[m.input]
	values := m.values[a.ID]
	switch {
	case name == "esc":
		m.inputs = false
	case name == "up":
		m.input = max(m.input-1, 0)
	case name == "down", name == "tab":
		m.input = min(m.input+1, len(a.Inputs)-1)
	case name == "enter":
		if m.input < len(a.Inputs)-1 {
			m.input++
			return true
		}
		s.perform(a)
		s.setMode(boxesMode)
	case len(i.Choices) > 0 && (name == "left" || name == "right" || name == "space"):
		at := slices.Index(i.Choices, values[i.ID])
		if name == "left" {
			at = max(at, 0) + len(i.Choices) - 1
		} else {
			at++
		}
		values[i.ID] = i.Choices[at%len(i.Choices)]
	case len(i.Choices) == 0 && len(name) == 1 && name >= "0" && name <= "9":
		if len(values[i.ID]) < 9 {
			values[i.ID] += name
		}
	case len(i.Choices) == 0 && name == "backspace":
		if v := values[i.ID]; v != "" {
			values[i.ID] = v[:len(v)-1]
		}
	case len(i.Choices) == 0 && (name == "left" || name == "right"):
		n, _ := strconv.Atoi(values[i.ID])
		if name == "left" {
			n--
		} else {
			n++
		}
		values[i.ID] = strconv.Itoa(min(max(n, i.Min), i.Max))
	default:
		return false
	}
	return true
}

func (s *screen) menuLines(width, height int) []line {
	m := &s.menu
	if len(m.actions) == 0 {
		return []line{text(muted, "This program has no laboratory any more.")}
	}
	boxes := map[string]string{}
	for _, b := range s.hello.Boxes {
		boxes[b.ID] = b.Title
	}
	all := []line{text(strong, "What the laboratory can do"), text(muted, "↑ ↓ choose, Enter does it, Esc goes back")}
	chosen := 0
	for n, a := range m.actions {
		how := plain
		if n == m.selected {
			how, chosen = selected, len(all)
		}
		key := a.Key
		if !s.pressable(key) {
			key = ""
		}
		l := joined(text(muted, boxes[a.Box]).fit(18), text(accent, clip(key, 1)).fit(2), text(how, a.Label).fit(20))
		for x, i := range a.Inputs {
			value := m.values[a.ID][i.ID]
			style := plain
			if m.inputs && n == m.selected && x == m.input {
				style, value = selected, value+"_"
				if len(i.Choices) > 0 {
					value = "← " + m.values[a.ID][i.ID] + " →"
				}
			}
			l = joined(l, text(muted, " "+i.Label+" "), text(style, value))
		}
		all = append(all, l)
	}
	help := m.actions[m.selected].Help
	if m.inputs {
		if i := m.actions[m.selected].Inputs[m.input]; len(i.Choices) == 0 {
			help += fmt.Sprintf(" (%s: from %d to %d, Enter does it)", i.Label, i.Min, i.Max)
		} else {
			help += " (← → choose, Enter does it)"
		}
	}
	foot := wrapped(accent, help, width)
	room := max(height-len(foot), 3)
	from := min(max(chosen-room/2, 0), max(len(all)-room, 0))
	all = all[from:min(from+room, len(all))]
	for len(all) < room {
		all = append(all, nil)
	}
	return append(all, foot...)
}
