package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// changelog is the top section of CHANGELOG.md.
type changelog struct {
	version      string // the first word of the heading; Keep a Changelog's brackets are left out
	incompatible string // the text below the heading "Incompatible changes"
}

var (
	sections      = regexp.MustCompile(`(?m)^## `)
	subsections   = regexp.MustCompile(`(?m)^### `)
	versionOfHead = regexp.MustCompile(`^[^\s,:\[\]]+`)
)

func readChangelog(root string) (c changelog, err error) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return c, err
	}
	parts := sections.Split(string(text), 3)
	if len(parts) < 2 {
		return c, errors.New(`CHANGELOG.md has no section: start one with "## " and the version`)
	}
	c.version = versionOfHead.FindString(strings.TrimPrefix(parts[1], "["))
	for _, part := range subsections.Split(parts[1], -1)[1:] {
		if text, ok := strings.CutPrefix(part, "Incompatible changes\n"); ok {
			c.incompatible = text
		}
	}
	return c, nil
}

// names reports whether "Incompatible changes" names a package, such as `rest/sharing`.
func (c changelog) names(folder string) bool { return strings.Contains(c.incompatible, "`"+folder+"`") }
