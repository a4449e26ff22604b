package execauth

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/kinform/kinform/rest/internal/redact"
)

// These expressions match words that look like secrets: tokens in three parts (JWT), long words
// without structure, words after "Bearer" or after a name such as "password=", and PEM.
var (
	tokenPattern       = regexp.MustCompile(`[A-Za-z0-9+/_=-]{32,}(\.[A-Za-z0-9+/_=-]+)*|eyJ[A-Za-z0-9_=-]+(\.[A-Za-z0-9_=-]+)*`)
	namedSecretPattern = regexp.MustCompile(`(?i)(bearer\s+|[a-z_-]*(?:password|passwd|secret|token|credential|api-?key)["']?\s*[:=]\s*["']?)[^\s"']+`)
	pemPattern         = regexp.MustCompile(`(?s)-----BEGIN .*?(-----END [^-]*-----|$)`)
	// the end of PEM whose start was cut off
	pemEndPattern = regexp.MustCompile(`(?s)^.*-----END [^-]*-----`)

	secretNamePattern = regexp.MustCompile(`(?i)password|passwd|secret|token|credential|key`)
)

// shortestSecret is the length of the shortest value that redactStderr replaces. Shorter values may
// be ordinary words, which occur in texts by chance.
const shortestSecret = 6

// redactStderr returns the standard error of a plugin in one line, without words that look like
// secrets.
func (p *Plugin) redactStderr(text string) string {
	for _, secret := range p.secrets() {
		text = strings.ReplaceAll(text, secret, redact.Mask)
	}
	text = pemPattern.ReplaceAllString(text, redact.Mask)
	text = pemEndPattern.ReplaceAllString(text, redact.Mask)
	text = namedSecretPattern.ReplaceAllString(text, "${1}"+redact.Mask)
	text = tokenPattern.ReplaceAllStringFunc(text, func(word string) string {
		if strings.Count(word, "/") > 1 && strings.HasPrefix(word, "/") {
			return word // a path
		}
		return redact.Mask
	})
	return printable(text)
}

// secrets returns texts to redact: the plugin's last token, and the values of the variables in its
// configuration. It adds the values of environment variables and of arguments whose names suggest a
// secret.
func (p *Plugin) secrets() (values []string) {
	add := func(value string) {
		if len(value) >= shortestSecret {
			values = append(values, value)
		}
	}
	for i, variable := range slices.Concat(revealAll(p.opts.Env), os.Environ()) {
		name, value, _ := strings.Cut(variable, "=")
		if i < len(p.opts.Env) || secretNamePattern.MatchString(name) {
			add(value)
		}
	}
	args := revealAll(p.opts.Args)
	for i, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !secretNamePattern.MatchString(name) {
			continue
		}
		if ok {
			add(value)
		} else if i+1 < len(args) {
			add(args[i+1]) // such as --client-secret abc
		}
	}
	p.mu.Lock()
	last := p.lastToken
	p.mu.Unlock()
	add(last.Reveal())
	// The longest secrets come first, because one may be a part of another.
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	return values
}

// printable returns a text in one line, without characters that control a terminal.
func printable(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.Map(func(r rune) rune {
			if r == '\t' {
				return ' '
			}
			if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
				// unlike IsControl, this also removes bidirectional marks
				return -1
			}
			return r
		}, line))
	}
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "; ")
}
