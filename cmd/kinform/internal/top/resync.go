package top

// resync compares a resync with a relist, in numbers that are counted since the picture was opened.
type resync struct {
	reading  bool
	from     float64 // number of bytes received when a list began
	received float64
	spent    float64
	s        *seen
}

func (r *resync) frame(s *seen) {
	received := s.number("server", "received")
	for _, e := range s.frame.Events {
		if e.What != "phase" {
			continue
		}
		if e.Kind == "listing" || e.Kind == "streaming" {
			if !r.reading {
				r.reading, r.from = true, r.received
			}
		} else if r.reading {
			r.reading = false
			r.spent += max(received-r.from, 0)
		}
	}
	r.received, r.s = received, s
}

func (r *resync) lines(width, _ int) []line {
	if r.s == nil {
		return nil
	}
	spent := "none since this view was opened"
	if r.spent > 0 {
		spent = "about " + bytesOf(r.spent) + " during lists"
	}
	rows := [][3]string{
		{"", "Resync", "Relist"},
		{"When", "at an interval that each handler sets for itself", "when a watch cannot continue: after 410 Gone, or if the server has lost its history"},
		{"Requests sent", "none", "for every object"},
		{"Calls of handlers", "for every object, as Updated, with Old equal to New", "for each object that was added, changed or deleted"},
		{"So far", plural(r.s.number("handlers", "resyncs"), "call") + " of handlers", plural(r.s.number("reflector", "relists"), "relist") + ", " + plural(r.s.number("reflector", "listed"), "object") + " in all lists"},
		{"Bytes received", "0 B", spent},
	}
	var all []line
	first := 18
	rest := max((width-first-2)/2, 10)
	for n, row := range rows {
		how := plain
		if n == 0 {
			how = strong
		}
		all = append(all, beside([][]line{wrapped(soft, row[0], first), wrapped(how, row[1], rest-1), wrapped(how, row[2], rest-1)},
			[]int{first, rest, rest}, []line{text(soft, "│")})...)
	}
	return all
}
