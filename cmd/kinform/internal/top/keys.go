package top

import "strings"

// keyHelp lists the keys. A key that the page also has does the same here, except m.
var keyHelp = [][2]string{
	{"1 to 7", "show a box: its purpose, and all of its numbers"},
	{"Esc", "go back to the last events"},
	{"Space", "freeze the picture, or let it continue"},
	{"t", "show all numbers as a table"},
	{"i", "show all pipelines, problems first"},
	{"m", "show a list of the laboratory's actions"},
	{"v", "show the next queue, if there are several"},
	{"PgUp, PgDn", "go a page up or down in a table"},
	{"?", "show this list"},
	{"q, Ctrl-C", "end"},
}

// key handles a key. The names of keys are those of the terminal library.
func (s *screen) key(name string) {
	if name == "ctrl+c" || name == "q" {
		s.quit = true
		return
	}
	if after, ok := strings.CutPrefix(name, "alt+"); ok {
		// A terminal sends the same for Esc followed by a key.
		s.key("esc")
		s.key(after)
		return
	}
	var used bool
	switch s.mode {
	case actionsMode:
		used = s.menuKey(name)
	case indexMode:
		used = s.indexKey(name)
	case tableMode, helpMode:
		used = s.scrollKey(name)
	}
	if used || s.commonKey(name) || s.mode == actionsMode {
		return
	}
	s.press(name)
}

// commonKey handles the keys for navigation.
func (s *screen) commonKey(name string) bool {
	if s.mode == actionsMode {
		switch name { // In the menu, other keys would be surprising.
		case "m", "esc":
			s.setMode(boxesMode)
			return true
		}
		return false
	}
	switch name {
	case "space":
		s.toggleFrozen()
	case "t":
		s.toggle(tableMode)
	case "?":
		s.toggle(helpMode)
	case "i":
		s.toggle(indexMode)
		if s.mode == indexMode {
			s.requestIndex()
		}
	case "m":
		s.openMenu()
	case "v":
		s.nextQueue()
	case "l":
		s.showMessage("The guided tour is on the page: kinform lab --open", false)
	case "esc":
		if s.mode == boxesMode {
			s.box = 0
		} else {
			s.setMode(boxesMode)
		}
	default:
		if len(name) == 1 && name >= "1" && name <= "7" {
			s.mode = boxesMode
			if n := int(name[0] - '0'); s.box == n {
				s.box = 0
			} else {
				s.box = n
			}
			return true
		}
		return false
	}
	return true
}

func (s *screen) setMode(m mode) {
	s.mode, s.scroll = m, 0
	if m == boxesMode && s.hello == nil && s.name == "" && len(s.index.pipelines) > 0 {
		s.choose(s.index.pipelines[0].Name)
	}
}

func (s *screen) toggle(m mode) {
	if s.mode == m {
		m = boxesMode
	}
	s.setMode(m)
}

func (s *screen) scrollKey(name string) bool {
	switch name {
	case "up":
		s.scroll--
	case "down":
		s.scroll++
	case "pgup":
		s.scroll -= s.height - 5
	case "pgdown":
		s.scroll += s.height - 5
	case "home":
		s.scroll = 0
	default:
		return false
	}
	return true
}

// scrolled returns the lines that fit on the screen, beginning at the scroll position.
func (s *screen) scrolled(all []line, height int) []line {
	s.scroll = min(max(s.scroll, 0), max(len(all)-height, 0))
	return all[s.scroll:min(s.scroll+height, len(all))]
}

func (s *screen) help() (all []line) {
	all = append(all, text(strong, "Keys"))
	for _, k := range keyHelp {
		all = append(all, sideBySide([][]line{{text(accent, k[0])}, wrapped(plain, k[1], s.width-15)}, []int{15, max(s.width-15, 0)}, nil)...)
	}
	if s.hello != nil && len(s.hello.Actions) > 0 {
		var keys []string
		for _, a := range s.hello.Actions {
			if a.Key != "" && s.pressable(a.Key) {
				keys = append(keys, a.Key+" "+a.Label)
			}
		}
		all = append(all, nil, text(strong, "The laboratory"))
		all = append(all, wrapped(plain, strings.Join(keys, "   ")+"   and more with m", s.width)...)
	}
	all = append(all, nil, text(strong, "Letters for events: at the lower edge of a box, and in the list of events"))
	var letters line
	for _, k := range legend {
		letters = joined(letters, line{k.letterSpan()}, text(muted, " "+k.text+"   "))
	}
	letters = joined(letters, line{{"m", kindKey}}, text(muted, " merged   "), line{{"r", kindModified}}, text(muted, " comes back later   "),
		line{{"x", bad}}, text(muted, " failed   "), line{{"d", good}}, text(muted, " done   "), line{{"*", accent}}, text(muted, " the stage itself"))
	for letters.width() > s.width {
		row, rest := breakLegend(letters, s.width)
		all, letters = append(all, row), rest
	}
	all = append(all, letters)
	all = append(all, wrapped(muted, "In the queue: p a worker has the key, a it was added meanwhile, r ready, w waits for its time, h held back.", s.width)...)
	return all
}

// breakLegend breaks a line of the legend, at most this wide.
func breakLegend(l line, width int) (row, rest line) {
	used := 0
	for n := 0; n+1 < len(l); n += 2 { // Two spans are a letter and its text.
		used += cells(l[n].text) + cells(l[n+1].text)
		if used > width && n > 0 {
			return l[:n], l[n:]
		}
	}
	return l, nil
}
