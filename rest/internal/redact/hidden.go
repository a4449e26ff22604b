package redact

// Mask is printed in place of a secret.
const Mask = "[redacted]"

// Hidden is a text behind a function, so that a printer that uses reflection does not find it. A
// nil Hidden is the empty text.
type Hidden func() string

// Hide returns text as a Hidden.
func Hide(text string) Hidden {
	if text == "" {
		return nil
	}
	return func() string { return text }
}

// Reveal returns the text.
func (h Hidden) Reveal() string {
	if h == nil {
		return ""
	}
	return h()
}

func hideAll(texts []string) []Hidden {
	out := make([]Hidden, len(texts))
	for i, text := range texts {
		out[i] = Hide(text)
	}
	return out
}

func revealAll(hidden []Hidden) []string {
	out := make([]string, len(hidden))
	for i, h := range hidden {
		out[i] = h.Reveal()
	}
	return out
}
