package rest

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
)

// plain is a text without what depends on how it is written: the escapes of URLs, JSON,
// Go and HTML are undone, one within the other as well, and what may be missing is left
// out: white space, in which a text may be broken into lines, what may stand for a space,
// and what differs between the alphabets of base64.
type plain struct {
	text []byte
	at   []span // where each byte comes from
}

// span is a part of a text.
type span struct{ from, to int }

// maxEscapes bounds how deep texts are quoted within each other that are compared.
const maxEscapes = 4

func plainly(text string) *plain {
	p := &plain{text: []byte(text), at: make([]span, len(text))}
	for i := range p.at {
		p.at[i] = span{i, i + 1}
	}
	for range maxEscapes {
		if !p.unescape() {
			break
		}
	}
	n := 0
	for i, c := range p.text {
		if c == '_' {
			c = '/' // as another base64 has it
		}
		if c > ' ' && c != '+' && c != '-' && c != '=' {
			p.text[n], p.at[n] = c, p.at[i]
			n++
		}
	}
	p.text, p.at = p.text[:n], p.at[:n]
	return p
}

// unescape undoes one level of escapes, and says whether there was any.
func (p *plain) unescape() (any bool) {
	n := 0
	for i := 0; i < len(p.text); {
		c, size := escaped(p.text[i:])
		at := p.at[i]
		if size == 0 {
			p.text[n], p.at[n] = p.text[i], at
			n, i = n+1, i+1
			continue
		}
		at.to = p.at[i+size-1].to
		for _, b := range []byte(c) { // which is no longer than what stood for it
			p.text[n], p.at[n] = b, at
			n++
		}
		i, any = i+size, true
	}
	p.text, p.at = p.text[:n], p.at[:n]
	return any
}

// escaped returns the character that an escape stands for with which a text begins, and
// the length of that escape, 0 for none.
func escaped(text []byte) (c string, size int) {
	number := func(from, to, base int) (n uint64, ok bool) {
		if to > len(text) {
			return 0, false
		}
		n, err := strconv.ParseUint(string(text[from:to]), base, 21)
		return n, err == nil
	}
	switch text[0] {
	case '%':
		if n, ok := number(1, 3, 16); ok {
			return string([]byte{byte(n)}), 3
		}
	case '\\':
		if len(text) == 1 {
			break
		}
		if n, ok := number(2, 6, 16); ok && text[1] == 'u' {
			return string(rune(n)), 6
		}
		if n, ok := number(2, 4, 16); ok && text[1] == 'x' {
			return string([]byte{byte(n)}), 4
		}
		if strings.IndexByte("abfnrtv", text[1]) >= 0 {
			return " ", 2
		}
		return string(text[1:2]), 2
	case '&':
		end := bytes.IndexByte(text[:min(len(text), 10)], ';')
		if end < 2 {
			break
		}
		n, ok := number(2, end, 10)
		if !ok && text[2]|0x20 == 'x' {
			n, ok = number(3, end, 16)
		}
		if ok && text[1] == '#' {
			return string(rune(n)), end + 1
		}
		switch string(text[1:end]) {
		case "amp":
			return "&", end + 1
		case "lt":
			return "<", end + 1
		case "gt":
			return ">", end + 1
		case "quot":
			return `"`, end + 1
		case "apos":
			return "'", end + 1
		}
	}
	return "", 0
}

// find returns where some forms are in the text, which may have been cut: the beginning
// of a longer one will do.
func (p *plain) find(forms []string) (found []span) {
	for _, form := range forms {
		begin := []byte(form[:min(len(form), shortestPart)])
		for first := 0; ; first++ { // One may begin within another.
			next := bytes.Index(p.text[first:], begin)
			if next < 0 {
				break
			}
			first += next
			at := first + len(begin)
			for at < len(p.text) && at-first < len(form) && p.text[at] == form[at-first] {
				at++
			}
			found = append(found, span{p.at[first].from, p.at[at-1].to})
		}
	}
	return found
}

// base64Of returns a text in base64, plain, wherever it begins in what is encoded: what
// also depends on the bytes around it is left out.
func base64Of(text string) (forms []string) {
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
		from, to := 0, (before+len(text))*8/6
		if before > 0 {
			from = before + 1
		}
		if form := plainly(encoded[from:to]).text; len(form) >= shortestPart {
			forms = append(forms, string(form))
		}
	}
	return forms
}
