package jsonpath

import (
	"errors"
	"strconv"
	"strings"
)

// ErrSyntax is the error for a malformed quoted string.
var ErrSyntax = errors.New("invalid syntax")

// UnquoteExtend unquotes a Go string in double quotes, or the same notation in single quotes.
func UnquoteExtend(s string) (string, error) {
	if len(s) < 2 || (s[0] != '"' && s[0] != '\'') || s[len(s)-1] != s[0] {
		return "", ErrSyntax
	}
	quote := s[0]
	s = s[1 : len(s)-1]
	if strings.IndexByte(s, quote) < 0 && strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var text []byte
	for s != "" {
		if s[0] == quote {
			return "", ErrSyntax
		}
		if s[0] != '\\' {
			text = append(text, s[0])
			s = s[1:]
			continue
		}
		c, multibyte, tail, err := strconv.UnquoteChar(s, quote)
		if err != nil {
			return "", ErrSyntax
		}
		if multibyte {
			text = append(text, string(c)...)
		} else {
			text = append(text, byte(c))
		}
		s = tail
	}
	return string(text), nil
}
