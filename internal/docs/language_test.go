package docs

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// These are the limits of CONTRIBUTING.md, section "Code".
const (
	maxWords   = 30
	maxColumns = 100
)

// headless matches the start of a sentence whose subject is a clause, such as "What no decoder
// needs".
var headless = regexp.MustCompile(`^(What|Who|Whoever|Whatever|Where|That) `)

// dialect matches negations and exceptions that most readers must read twice.
var dialect = regexp.MustCompile(`(?i)\b(but for|is none)\b`)

// sentence is a sentence of a comment or of a page.
type sentence struct {
	at   string // file and line of its paragraph
	text string
}

// problems returns the rules that a sentence breaks.
func problems(text string) (broken []string) {
	if n := len(strings.Fields(text)); n > maxWords {
		broken = append(broken, fmt.Sprintf("%d words", n))
	}
	if headless.MatchString(text) && !strings.HasSuffix(text, "?") {
		broken = append(broken, "no subject")
	}
	if found := dialect.FindString(text); found != "" {
		broken = append(broken, found)
	}
	return broken
}

// TestSentencesAreShortAndHaveSubjects reads all comments and pages that people have written.
func TestSentencesAreShortAndHaveSubjects(t *testing.T) {
	t.Parallel()
	found := 0
	for _, s := range sentences(t) {
		found++
		if broken := problems(s.text); len(broken) > 0 {
			t.Errorf("%s: %s: %s", s.at, strings.Join(broken, ", "), s.text)
		}
	}
	require.Greater(t, found, 10_000, "the search must find the text")
}

// TestCommentsFitIntoTheirColumns: the prose of comments and pages wraps at 100 columns. A comment
// behind code that does not fit gets a line of its own.
func TestCommentsFitIntoTheirColumns(t *testing.T) {
	t.Parallel()
	for _, name := range writtenFiles(t) {
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		lines := strings.Split(string(data), "\n")
		prose := proseOfPage(lines)
		if strings.HasSuffix(name, ".go") {
			prose = proseOfComments(t, name)
		}
		for _, n := range prose {
			line := strings.ReplaceAll(lines[n-1], "\t", "    ")
			if columns := utf8.RuneCountInString(line); columns > maxColumns {
				t.Errorf("%s:%d: %d columns", name, n, columns)
			}
		}
	}
}

// ruler is the line of a table between its head and its rows.
var ruler = regexp.MustCompile(`^(\| ?:?-+:? ?)+\|$`)

// TestTableRowsAreComplete: a wrapped row ends the table on GitHub.
func TestTableRowsAreComplete(t *testing.T) {
	t.Parallel()
	tables := 0
	for _, name := range writtenFiles(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		cells := 0 // of the current table
		for i, line := range strings.Split(string(data), "\n") {
			row := strings.TrimSpace(line)
			bars := strings.Count(strings.ReplaceAll(row, `\|`, ""), "|")
			switch {
			case ruler.MatchString(row):
				cells, tables = bars, tables+1
			case row == "" || strings.HasPrefix(row, "<!--"):
				cells = 0
			case cells > 0 && (bars != cells || !strings.HasPrefix(row, "|") || !strings.HasSuffix(row, "|")):
				t.Errorf("%s:%d: not a row of %d cells: %s", name, i+1, cells-1, row)
			}
		}
	}
	require.Greater(t, tables, 30)
}

// proseOfPage returns the numbers of the lines that can be wrapped: no code, tables, headings,
// links or HTML.
func proseOfPage(lines []string) (numbers []int) {
	fenced := false
	for i, line := range lines {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "```") {
			fenced = !fenced
		}
		if !fenced && !strings.HasPrefix(text, "|") && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "<") && !strings.Contains(text, "](") {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// proseOfComments returns the numbers of the lines that have a comment, except directives and
// addresses.
func proseOfComments(t *testing.T, name string) (numbers []int) {
	files, file := parseGo(t, name)
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "// ") && !strings.Contains(c.Text, "://") {
				numbers = append(numbers, files.Position(c.Pos()).Line)
			}
		}
	}
	return numbers
}

// writtenFiles returns the files whose text people have written in English.
func writtenFiles(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(name, ".") || name == "bin" || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir(), strings.HasSuffix(name, ".zh.md"):
		case strings.HasSuffix(name, ".md"):
			names = append(names, name)
		case strings.HasSuffix(name, ".go"):
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			if head := data[:min(len(data), 2000)]; !generated.Match(head) {
				names = append(names, name)
			}
		}
		return nil
	}))
	return names
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// sentences returns the sentences of all comments and pages.
func sentences(t *testing.T) (all []sentence) {
	for _, name := range writtenFiles(t) {
		if strings.HasSuffix(name, ".md") {
			all = append(all, sentencesOfPage(t, name)...)
		} else {
			all = append(all, sentencesOfComments(t, name)...)
		}
	}
	return all
}

func parseGo(t *testing.T, name string) (*token.FileSet, *ast.File) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return files, file
}

func sentencesOfComments(t *testing.T, name string) (all []sentence) {
	files, file := parseGo(t, name)
	for _, group := range file.Comments {
		all = append(all, sentencesOfComment(fmt.Sprintf("%s:%d", name, files.Position(group.Pos()).Line), group)...)
	}
	return all
}

func sentencesOfComment(at string, group *ast.CommentGroup) (all []sentence) {
	var p comment.Parser
	var paragraphs func(blocks []comment.Block)
	paragraphs = func(blocks []comment.Block) {
		for _, block := range blocks {
			switch block := block.(type) {
			case *comment.Paragraph:
				all = append(all, split(at, plainText(block.Text))...)
			case *comment.List:
				for _, item := range block.Items {
					paragraphs(item.Content)
				}
			}
		}
	}
	paragraphs(p.Parse(group.Text()).Content)
	return all
}

func plainText(parts []comment.Text) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case comment.Plain:
			b.WriteString(string(part))
		case comment.Italic:
			b.WriteString(string(part))
		case *comment.Link:
			b.WriteString(plainText(part.Text))
		case *comment.DocLink:
			b.WriteString(plainText(part.Text))
		}
	}
	return b.String()
}

// sentencesOfPage returns the sentences of a page in Markdown: of its paragraphs, its lists, and
// the cells of its tables.
func sentencesOfPage(t *testing.T, name string) (all []sentence) {
	data, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	var paragraph []string
	start, fenced := 0, false
	flush := func() {
		all = append(all, split(fmt.Sprintf("%s:%d", name, start), strings.Join(paragraph, " "))...)
		paragraph = nil
	}
	for n, line := range strings.Split(string(data), "\n") {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "```"):
			fenced = !fenced
			flush()
		case fenced:
		case text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "<"):
			flush()
		case strings.HasPrefix(text, "|"):
			flush()
			for cell := range strings.SplitSeq(strings.Trim(text, "|"), " | ") {
				all = append(all, split(fmt.Sprintf("%s:%d", name, n+1), strings.TrimSpace(cell))...)
			}
		default:
			if item := listItem.FindString(text); item != "" {
				flush()
				text = text[len(item):]
			}
			if len(paragraph) == 0 {
				start = n + 1
			}
			paragraph = append(paragraph, text)
		}
	}
	flush()
	return all
}

var (
	listItem = regexp.MustCompile(`^([-*]|[0-9]+\.) `)
	stop     = regexp.MustCompile(`[.!?:;]["')*` + "`" + `]*\s+`)
)

// split returns the sentences of a paragraph. A colon or a semicolon also ends a sentence, because
// it ends an idea.
func split(at, paragraph string) (all []sentence) {
	paragraph = strings.Join(strings.Fields(paragraph), " ")
	for paragraph != "" {
		end := len(paragraph)
		for _, found := range stop.FindAllStringIndex(paragraph, -1) {
			if !abbreviated(paragraph[:found[0]+1]) {
				end = found[1]
				break
			}
		}
		all = append(all, sentence{at, strings.TrimSpace(paragraph[:end])})
		paragraph = paragraph[end:]
	}
	return all
}

func abbreviated(text string) bool {
	for _, short := range []string{"e.g.", "i.e.", "etc.", "vs.", " v."} {
		if strings.HasSuffix(text, short) {
			return true
		}
	}
	return false
}
