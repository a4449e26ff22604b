package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	english = "docs/how-informers-work.md"
	chinese = "docs/how-informers-work.zh.md"
)

// section is the text under one heading of a page.
type section struct {
	title  string
	prose  string   // the text without the blocks
	blocks []string // each with the word after its fence
	links  []string
}

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	number    = regexp.MustCompile(`^## (\d+)\. `)
	namedLink = regexp.MustCompile("\\[`(\\w+/[^`]+\\.go)`\\]\\(([^)]+)\\)")
	anchored  = regexp.MustCompile(`#.*$`)
)

// sections returns the sections of a page. The first one is the text above all headings.
func sections(t *testing.T, page string) []section {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	all := []section{{}}
	fenced := false
	for line := range strings.Lines(string(text)) {
		s := &all[len(all)-1]
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			if fenced {
				s.blocks = append(s.blocks, line)
			}
		case fenced:
			s.blocks[len(s.blocks)-1] += line
		case strings.HasPrefix(line, "## "):
			all = append(all, section{title: strings.TrimSpace(line)})
		default:
			s.prose += line
			for _, found := range link.FindAllStringSubmatch(line, -1) {
				s.links = append(s.links, found[1])
			}
		}
	}
	require.False(t, fenced, "%s: a block does not end", page)
	return all
}

// Each section has everything that a learner needs: a sentence about what goes wrong otherwise, a
// picture, a guarantee and an experiment. It also has links to the file of the textbook and to the
// tuned file.
func TestEachSectionForLearnersIsComplete(t *testing.T) {
	t.Parallel()
	numbered := 0
	for _, s := range sections(t, english) {
		if !number.MatchString(s.title) {
			continue
		}
		numbered++
		has := func(all []string, pattern string) bool {
			for _, one := range all {
				if regexp.MustCompile(pattern).MatchString(one) {
					return true
				}
			}
			return false
		}
		require.Regexp(t, `(?i)\botherwise\b`, s.prose, "%s: what goes wrong otherwise?", s.title)
		require.True(t, has(s.blocks, "^```text\n"), "%s: no picture", s.title)
		require.True(t, has(s.blocks, "^```console\n"), "%s: no experiment", s.title)
		require.True(t, has(s.links, `^\.\./plain/\w+\.go$`), "%s: no file of the textbook", s.title)
		require.True(t, has(s.links, `^\.\./(rest|reflector|deltafifo|indexer|informer|workqueue|lease|examples)/.*\w+\.go$`), "%s: no tuned file", s.title)
		for _, named := range namedLink.FindAllStringSubmatch(s.prose, -1) {
			require.Equal(t, named[1], strings.TrimPrefix(named[2], "../"), "%s: the text of the link must be its path", s.title)
		}
		require.Regexp(t, `\*\*Guarantees?\*\* \[G\d+\]\(\.\./informer/doc\.go\)`, s.prose, s.title)
	}
	require.GreaterOrEqual(t, numbered, 18)
}

// The pages in both languages have the same sections, with the same pictures, code, experiments and
// links.
func TestBothLanguagesHaveTheSameSections(t *testing.T) {
	t.Parallel()
	here, there := sections(t, english), sections(t, chinese)
	require.Len(t, there, len(here))
	for n, s := range here {
		require.Equal(t, number.FindString(s.title), number.FindString(there[n].title), s.title)
		require.Equal(t, s.blocks, there[n].blocks, s.title)
		require.Equal(t, strings.Count(s.prose, "\n\n"), strings.Count(there[n].prose, "\n\n"), "%s: the paragraphs", s.title)
		if n > 0 { // The first section has the link to the other language.
			require.ElementsMatch(t, s.links, there[n].links, s.title)
		}
	}
}

// Links on the pages point to files of this repository.
func TestLinksOfPagesExist(t *testing.T) {
	t.Parallel()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(name, ".") || name == "bin" || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".md"):
			return nil
		}
		for _, s := range sections(t, name) {
			for _, to := range s.links {
				if strings.Contains(to, "://") || strings.HasPrefix(to, "#") {
					continue
				}
				_, err := os.Stat(filepath.Join(filepath.Dir(path), anchored.ReplaceAllString(to, "")))
				require.NoError(t, err, "%s links to %s", name, to)
			}
		}
		return nil
	}))
}
