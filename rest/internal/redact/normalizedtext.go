package redact

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
)

// normalizedText is the form of a text in which a Redactor looks for secrets, so that it finds
// escaped secrets. normalize undoes the escapes of URLs, JSON, Go and HTML, also nested ones. It
// removes white space, because a text may be broken into lines. It also removes characters that may
// stand for a space, and characters that differ between the alphabets of base64.
type normalizedText struct {
	text    []byte
	origins []span // the part of the original text that each byte stands for
}

// span is a part of a text.
type span struct{ from, to int }

// maxEscapes is how many levels of escapes normalize undoes.
const maxEscapes = 4

func normalize(text string) *normalizedText {
	p := &normalizedText{text: []byte(text), origins: make([]span, len(text))}
	for i := range p.origins {
		p.origins[i] = span{i, i + 1}
	}
	for range maxEscapes {
		if !p.unescape() {
			break
		}
	}
	n := 0
	for i, c := range p.text {
		if c == '_' {
			c = '/' // the other alphabet of base64
		}
		if c > ' ' && c != '+' && c != '-' && c != '=' {
			p.text[n], p.origins[n] = c, p.origins[i]
			n++
		}
	}
	p.text, p.origins = p.text[:n], p.origins[:n]
	return p
}

// unescape undoes one level of escapes, and reports whether there was one.
func (p *normalizedText) unescape() (changed bool) {
	n := 0
	for i := 0; i < len(p.text); {
		c, size := decodeEscape(p.text[i:])
		at := p.origins[i]
		if size == 0 {
			p.text[n], p.origins[n] = p.text[i], at
			n, i = n+1, i+1
			continue
		}
		at.to = p.origins[i+size-1].to
		for _, b := range []byte(c) { // c is at most as long as its escape
			p.text[n], p.origins[n] = b, at
			n++
		}
		i, changed = i+size, true
	}
	p.text, p.origins = p.text[:n], p.origins[:n]
	return changed
}

// decodeEscape returns the character that a text's leading escape stands for, and the length of the
// escape. The length is 0 if the text does not start with an escape.
func decodeEscape(text []byte) (c string, size int) {
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

// find returns the parts of the original text that contain one of the forms. Of a form longer than
// minPartLength, the start is enough, because the text may be truncated.
func (p *normalizedText) find(forms []string) (found []span) {
	for _, form := range forms {
		begin := []byte(form[:min(len(form), minPartLength)])
		for first := 0; ; first++ { // A form may start within another.
			next := bytes.Index(p.text[first:], begin)
			if next < 0 {
				break
			}
			first += next
			at := first + len(begin)
			for at < len(p.text) && at-first < len(form) && p.text[at] == form[at-first] {
				at++
			}
			found = append(found, span{p.origins[first].from, p.origins[at-1].to})
		}
	}
	return found
}

// base64Forms returns the normalized forms of a text in base64. The text may start at three
// positions in a group, and each position has its own form. The forms lack the characters that also
// depend on the bytes around the text.
func base64Forms(text string) (forms []string) {
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
		from, to := 0, (before+len(text))*8/6
		if before > 0 {
			from = before + 1
		}
		if form := normalize(encoded[from:to]).text; len(form) >= minPartLength {
			forms = append(forms, string(form))
		}
	}
	return forms
}
