//go:build unix

package docs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A console block of a page is an experiment: commands, each after "$ ", and the output of each
// command below it. The test runs the commands of a block in one shell, in an empty directory, and
// compares the output. In the output on the page,
//
//   - "..." stands for any text within a line, and for any lines if it is alone in its line;
//   - "about 100" stands for a number that is at most a third less or a half more;
//   - a time, such as 31.9µs, stands for any time, and a date for any date;
//   - any number of spaces is one space.
//
// Pages use the port 8001. The test takes a free port instead.

// attempts is how often an experiment is tried beside the other experiments. If all these attempts
// fail, the experiment is tried as often again, alone, after all others. Some experiments have a
// time limit, and the machine may be busy. If the output on the page is wrong, every attempt fails.
const attempts = 2

// concurrency is how many experiments run at the same time.
const concurrency = 6

// attemptTimeout bounds the time of one attempt.
const attemptTimeout = 2 * time.Minute

func TestOutputOfExperimentsIsCurrent(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the experiments need curl")
	}
	// Another test checks that the page in the other language has the same blocks.
	binary := build(t, english)
	found := experiments(t, english)
	require.NotEmpty(t, found)
	// The experiments run in goroutines. Parallel subtests would be limited to the number of
	// processors, although most experiments sleep.
	outcomes := make([]chan string, len(found))
	slots := make(chan struct{}, concurrency)
	for n, e := range found {
		outcomes[n] = make(chan string, 1)
		dirs := directories(t)
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			outcomes[n] <- e.try(dirs, binary)
		}()
	}
	differ := make([]string, len(found))
	for n := range found {
		differ[n] = <-outcomes[n]
	}
	for n, e := range found {
		t.Run(e.name, func(t *testing.T) {
			if differ[n] != "" {
				differ[n] = e.try(directories(t), binary)
			}
			require.Empty(t, differ[n], "%s: the output of an experiment differs from the page", english)
		})
	}
}

// directories returns an empty directory for each attempt.
func directories(t *testing.T) (dirs [attempts]string) {
	for attempt := range attempts {
		dirs[attempt] = t.TempDir()
	}
	return dirs
}

// try tries an experiment. It returns "" if an attempt succeeds, and otherwise the difference
// between the last attempt and the page.
func (e experiment) try(dirs [attempts]string, binary string) (differ string) {
	for _, dir := range dirs {
		if differ = e.differs(dir, binary); differ == "" {
			return ""
		}
	}
	return differ
}

// build builds the kinform command and the page's program, and returns the directory of both.
func build(t *testing.T, page string) string {
	t.Helper()
	dir := t.TempDir()
	programs := slices.DeleteFunc(inPage(t, page), func(b block) bool { return !strings.HasPrefix(b.text, "package main\n") })
	require.Len(t, programs, 1, "%s has one program", page)
	compile(t, map[string]string{"greeter/main.go": programs[0].text}, "-ldflags=-s -w", "-o", dir+"/", module+"cmd/kinform")
	return dir
}

// experiment is one console block.
type experiment struct {
	name  string // the heading above, and the number of the block below it
	steps []step
}

// step is one command and its output.
type step struct {
	command string
	shown   []string
}

var heading = regexp.MustCompile(`^#+ (.*)$`)

// experiments returns the console blocks of a page.
func experiments(t *testing.T, page string) (all []experiment) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	above, in, fenced := "", false, false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		title := heading.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "```"):
			in, fenced = line == "```console", !fenced
			if in {
				all = append(all, experiment{name: above})
			}
		case in && strings.HasPrefix(line, "$ "):
			e := &all[len(all)-1]
			e.steps = append(e.steps, step{command: line[2:]})
		case in:
			e := &all[len(all)-1]
			require.NotEmpty(t, e.steps, "%s: an experiment begins with a command", above)
			last := &e.steps[len(e.steps)-1]
			last.shown = append(last.shown, line)
		case !fenced && title != nil:
			above = title[1]
		}
	}
	return all
}

const pagePort = "127.0.0.1:8001"

// differs runs an experiment, and returns how it differs from the page.
func (e experiment) differs(dir, binary string) string {
	address, err := freeAddress()
	if err != nil {
		return err.Error()
	}
	sh, err := newShell(dir, binary)
	if err != nil {
		return err.Error()
	}
	defer sh.end()
	for _, s := range e.steps {
		command := strings.ReplaceAll(s.command, pagePort, address)
		command = strings.ReplaceAll(command, "kinform apiserver", "kinform apiserver --listen "+address)
		said, err := sh.run(command)
		said = strings.TrimRight(strings.ReplaceAll(said, address, pagePort), "\n")
		if err != nil {
			return fmt.Sprintf("$ %s\n%s\n%v", s.command, said, err)
		}
		if !matches(s.shown, strings.Split(said, "\n")) {
			return fmt.Sprintf("$ %s\nshown:\n%s\nprinted:\n%s", s.command, strings.Join(s.shown, "\n"), said)
		}
	}
	return ""
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// shell is one shell, in its own directory, that runs one command after another.
type shell struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	lines chan string
	done  sync.WaitGroup
}

func newShell(dir, binary string) (*shell, error) {
	s := &shell{cmd: exec.Command("sh"), lines: make(chan string, 1000)}
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), "PATH="+binary+string(os.PathListSeparator)+os.Getenv("PATH"))
	// end can then reach all processes of the shell.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, outputEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer outputEnd.Close()
	s.cmd.Stdout, s.cmd.Stderr = outputEnd, outputEnd
	s.input, err = s.cmd.StdinPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, output.Close())
	}
	s.done.Go(func() {
		defer output.Close()
		defer close(s.lines)
		for scanner := bufio.NewReader(output); ; {
			line, err := scanner.ReadString('\n')
			if line != "" {
				s.lines <- line
			}
			if err != nil {
				return
			}
		}
	})
	return s, nil
}

// end ends the shell and all processes that the shell has started.
func (s *shell) end() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait()
	for range s.lines {
	}
	s.done.Wait()
}

// run runs a command, and returns its output. If the command starts a server in the background, run
// waits until the server serves. A person would not type the next command earlier.
func (s *shell) run(command string) (output string, err error) {
	const end = "the command has ended"
	if _, err := fmt.Fprintf(s.input, "%s\necho; echo '%s'\n", command, end); err != nil {
		return "", err
	}
	serves := strings.Contains(command, "kinform apiserver") && strings.Contains(command, "&")
	timeout := time.After(attemptTimeout)
	for ended := false; !ended || serves; {
		select {
		case line, open := <-s.lines:
			switch {
			case !open:
				return output, fmt.Errorf("the shell has ended")
			case strings.TrimSpace(line) == end:
				ended = true
				output = strings.TrimSuffix(output, "\n") // echo printed this newline.
				continue
			case strings.HasPrefix(line, "Serving "):
				serves = false
			}
			output += line
		case <-timeout:
			return output, fmt.Errorf("the command has not ended within %v", attemptTimeout)
		}
	}
	return output, nil
}

var (
	aTime   = regexp.MustCompile(`\b(\d+(\.\d+)?(ns|µs|ms|m|s))+\b`)
	aDate   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	spaces  = regexp.MustCompile(`\s+`)
	about   = regexp.MustCompile(`\babout (\d+)`)
	anyLine = "..."
)

// withoutEscapes replaces the parts of a line that differ from run to run, such as times.
func withoutEscapes(line string) string {
	line = aTime.ReplaceAllString(line, "<time>")
	line = aDate.ReplaceAllString(line, "<date>")
	return strings.TrimSpace(spaces.ReplaceAllString(line, " "))
}

// matches reports whether the lines of the output match the lines on the page.
func matches(shown, lines []string) bool {
	shown, lines = withoutBlankLines(shown), withoutBlankLines(lines)
	if len(shown) == 0 {
		return len(lines) == 0
	}
	if strings.TrimSpace(shown[0]) == anyLine {
		for n := range len(lines) + 1 {
			if matches(shown[1:], lines[n:]) {
				return true
			}
		}
		return false
	}
	if len(lines) == 0 {
		return false
	}
	return matchesLine(withoutEscapes(shown[0]), withoutEscapes(lines[0])) && matches(shown[1:], lines[1:])
}

// matchesLine reports whether one line of the output matches a line on the page.
func matchesLine(shown, line string) bool {
	pattern := regexp.QuoteMeta(shown)
	pattern = strings.ReplaceAll(pattern, regexp.QuoteMeta("..."), ".*")
	pattern = about.ReplaceAllString(pattern, `(\d+)`)
	found := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(line)
	if found == nil {
		return false
	}
	for n, want := range about.FindAllStringSubmatch(shown, -1) {
		want, _ := strconv.Atoi(want[1])
		got, err := strconv.Atoi(found[n+1])
		if err != nil || 3*got < 2*want || 2*got > 3*want {
			return false
		}
	}
	return true
}

// withoutBlankLines removes empty lines, because a page may have more of them to be readable.
func withoutBlankLines(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.TrimSpace(line) == "" })
}

func TestShownLinesAreCompared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown, printed string
		same           bool
	}{
		{"a  1.5ms\nb", "a 17s\n\nb\n", true},
		{"a", "b", false},
		{"a", "a\nb", false},
		{"a\nb", "a", false},
		{"at ... of b", "at the end of b", true},
		{"at ... of b", "at the end of c", false},
		{"a\n...\nz", "a\nz", true},
		{"a\n...\nz", "a\nb\nc\nz", true},
		{"a\n...\nz", "a\nb\nc", false},
		{"10 keys", "11 keys", false},
		{"about 100 keys", "67 keys", true},
		{"about 100 keys", "66 keys", false},
		{"... about 100 keys, about 10 ...", "of 150 keys, 15 more", true},
		{"about 100 keys", "151 keys", false},
		{"about 100 keys", "many keys", false},
		{"since 2026-11-22T18:01:03Z", "since 2027-01-01T00:00:00Z", true},
		{"", "anything", false},
	} {
		require.Equal(t, c.same, matches(strings.Split(c.shown, "\n"), strings.Split(c.printed, "\n")), "%q, %q", c.shown, c.printed)
	}
}
