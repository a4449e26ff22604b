package tour

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

const lessons = 10

// Text is a text in both languages.
type Text struct {
	EN string `json:"en"`
	ZH string `json:"zh"`
}

// Do is an action, or a wait between two actions.
type Do struct {
	Action string            `json:"action"`
	Values map[string]string `json:"values"`
	Until  []string          `json:"until"`
}

// Lesson is the content of a file lesson-N.json.
type Lesson struct {
	Title Text     `json:"title"`
	Docs  []Text   `json:"docs"`
	Code  []string `json:"code"`
	Begin struct {
		Do    []Do     `json:"do"`
		Until []string `json:"until"`
	} `json:"begin"`
	Steps []struct {
		Box   string   `json:"box"`
		Open  string   `json:"open"`
		Say   Text     `json:"say"`
		Do    []Do     `json:"do"`
		Until []string `json:"until"`
		Same  []string `json:"same"`
		Then  *Text    `json:"then"`
	} `json:"steps"`
	Question struct {
		Box     string `json:"box"`
		Open    string `json:"open"`
		Ask     Text   `json:"ask"`
		Answers []struct {
			Text
			When []string `json:"when"`
		} `json:"answers"`
		Right int  `json:"right"`
		Why   Text `json:"why"`
	} `json:"question"`
	End []Do `json:"end"`
}

const root = "../.."

func read(t *testing.T, n int) (l Lesson) {
	t.Helper()
	file, err := os.Open(filepath.Join(root, "view", "page", fmt.Sprintf("lesson-%d.json", n)))
	require.NoError(t, err)
	defer file.Close()
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&l))
	return l
}

// texts returns all texts of a lesson.
func (l Lesson) texts() []Text {
	all := []Text{l.Title, l.Question.Ask, l.Question.Why}
	for _, s := range l.Steps {
		all = append(all, s.Say)
		if s.Then != nil {
			all = append(all, *s.Then)
		}
	}
	for _, a := range l.Question.Answers {
		all = append(all, a.Text)
	}
	return all
}

// numbers returns the ids of all numbers that the tour shows beside the texts of the lesson.
func (l Lesson) numbers() []string {
	var all []string
	subjects := func(conditions []string) {
		for _, c := range conditions {
			all = append(all, strings.Fields(c)[0])
		}
	}
	for _, s := range l.Steps {
		for _, do := range s.Do {
			subjects(do.Until)
		}
		subjects(s.Until)
		all = append(all, s.Same...)
	}
	for _, a := range l.Question.Answers {
		subjects(a.When)
	}
	return all
}

// Each number in the tour has a name in both languages.
func TestNumbersOfLessonsHaveNames(t *testing.T) {
	words, err := os.ReadFile(filepath.Join(root, "view", "page", "tourwords.js"))
	require.NoError(t, err)
	for n := 1; n <= lessons; n++ {
		for _, id := range read(t, n).numbers() {
			require.Equal(t, 2, strings.Count(string(words), `"`+id+`": "`), "lesson %d: labels of %s", n, id)
		}
	}
}

// All targets of lessons exist: code files, headings of the docs, boxes and pictures. Each text
// exists in both languages.
func TestLessonsAreComplete(t *testing.T) {
	english, err := os.ReadFile(filepath.Join(root, "docs", "how-informers-work.md"))
	require.NoError(t, err)
	chinese, err := os.ReadFile(filepath.Join(root, "docs", "how-informers-work.zh.md"))
	require.NoError(t, err)
	small, err := os.ReadFile(filepath.Join(root, "view", "page", "small.js"))
	require.NoError(t, err)
	boxes := []string{"server", "reflector", "fifo", "store", "handlers", "queue", "workers"}
	han := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	for n := 1; n <= lessons; n++ {
		l := read(t, n)
		for _, text := range l.texts() {
			require.NotEmpty(t, text.EN, "lesson %d", n)
			require.False(t, han(text.EN), "lesson %d: %s", n, text.EN)
			require.True(t, han(text.ZH), "lesson %d: %s", n, text.ZH)
		}
		require.NotEmpty(t, l.Code)
		for _, path := range l.Code {
			require.FileExists(t, filepath.Join(root, path))
		}
		require.NotEmpty(t, l.Docs)
		for _, heading := range l.Docs {
			require.Contains(t, string(english), "\n## "+heading.EN+"\n")
			require.Contains(t, string(chinese), "\n## "+heading.ZH+"\n")
		}
		require.GreaterOrEqual(t, len(l.Question.Answers), 3)
		require.Less(t, l.Question.Right, len(l.Question.Answers))
		require.Contains(t, boxes, l.Question.Box)
		pictures := []string{l.Question.Open}
		for _, s := range l.Steps {
			require.Contains(t, boxes, s.Box)
			require.Equal(t, s.Do == nil, s.Until == nil, "lesson %d: a step must wait for the effect of its action", n)
			require.Equal(t, s.Do == nil, s.Then == nil, "lesson %d: a step must explain the effect of its action", n)
			pictures = append(pictures, s.Open)
		}
		for _, p := range slices.DeleteFunc(pictures, func(p string) bool { return p == "" }) {
			require.Contains(t, string(small), `{ id: "`+p+`", box: `)
		}
	}
}

// docs/tour.md names every lesson, and has ten questions with their answers.
func TestTheListOfLessons(t *testing.T) {
	for _, name := range []string{"tour.md", "tour.zh.md"} {
		page, err := os.ReadFile(filepath.Join(root, "docs", name))
		require.NoError(t, err)
		for n := 1; n <= lessons; n++ {
			l := read(t, n)
			title := map[string]string{"tour.md": l.Title.EN, "tour.zh.md": l.Title.ZH}[name]
			require.Contains(t, string(page), fmt.Sprintf("\n%d. **%s**", n, title), name)
		}
		require.Len(t, regexp.MustCompile(`(?m)^[0-9]+\. `).FindAllString(string(page), -1), 3*lessons, "%s: lessons, questions, answers", name)
	}
}

// numbers are the numbers of a frame.
type numbers map[string]float64

// holds reports whether all conditions are met, in the same way as condition.js.
func holds(t *testing.T, conditions []string, now, was, began numbers) bool {
	t.Helper()
	for _, c := range conditions {
		terms := strings.Fields(c)
		id, op := terms[0], terms[1]
		have, known := now[id]
		sum, sign := 0.0, 1.0
		for _, term := range terms[2:] {
			switch n, err := strconv.ParseFloat(term, 64); {
			case term == "+":
				sign = 1
			case term == "-":
				sign = -1
			case term == "was":
				sum += sign * was[id]
			case term == "began":
				sum += sign * began[id]
			case err == nil:
				sum += sign * n
			default:
				require.Contains(t, now, term, c)
				sum += sign * now[term]
			}
		}
		met := map[string]bool{"==": have == sum, ">=": have >= sum, "<=": have <= sum, ">": have > sum, "<": have < sum}
		require.Contains(t, met, op, c)
		if !known || !met[op] {
			return false
		}
	}
	return true
}
