package top

// resyncPicture compares a resync with a relist, in numbers that are counted since the picture was
// opened.
type resyncPicture struct {
	listing     bool
	bytesBefore float64 // number of bytes received when a list began
	received    float64
	listBytes   float64
	data        *frameData
}

func (r *resyncPicture) frame(s *frameData) {
	received := s.number("server", "received")
	for _, e := range s.frame.Events {
		if e.What != "phase" {
			continue
		}
		if e.Kind == "listing" || e.Kind == "streaming" {
			if !r.listing {
				r.listing, r.bytesBefore = true, r.received
			}
		} else if r.listing {
			r.listing = false
			r.listBytes += max(received-r.bytesBefore, 0)
		}
	}
	r.received, r.data = received, s
}

func (r *resyncPicture) lines(width, _ int) []line {
	if r.data == nil {
		return nil
	}
	spent := "none since this view was opened"
	if r.listBytes > 0 {
		spent = "about " + formatBytes(r.listBytes) + " during lists"
	}
	rows := [][3]string{
		{"", "Resync", "Relist"},
		{"When", "at an interval that each handler sets for itself", "when a watch cannot continue: after 410 Gone, or if the server has lost its history"},
		{"Requests sent", "none", "for every object"},
		{"Calls of handlers", "for every object, as Updated, with Old equal to New", "for each object that was added, changed or deleted"},
		{"So far", plural(r.data.number("handlers", "resyncs"), "call") + " of handlers", plural(r.data.number("reflector", "relists"), "relist") + ", " + plural(r.data.number("reflector", "listed"), "object") + " in all lists"},
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
		all = append(all, sideBySide([][]line{wrapped(muted, row[0], first), wrapped(how, row[1], rest-1), wrapped(how, row[2], rest-1)},
			[]int{first, rest, rest}, []line{text(muted, "│")})...)
	}
	return all
}
