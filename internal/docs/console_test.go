//go:build unix

package docs

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A console block of a page is an experiment: commands, each after "$ ", and below
// each what it prints. The test runs the commands of a block in one shell, in an
// empty directory, and compares. In what is shown,
//
//   - "..." stands for anything within a line, and for any lines where it is alone in
//     its line;
//   - a time, such as 31.9µs, stands for any time, and a date for any date;
//   - any number of spaces is one space.
//
// Pages use the port 8001. The test takes a free one instead.

// attempts is how often an experiment may be tried: some have a time limit, and the
// machine may be busy. What is shown wrongly fails every time.
const attempts = 3

// attemptWithin bounds one attempt.
const attemptWithin = 30 * time.Second

func TestExperimentsOfThePagesShowWhatIsThere(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the experiments need curl")
	}
	binary := build(t)
	found := experiments(t, "docs/how-informers-work.md") // The other language has the same: see below.
	require.NotEmpty(t, found)
	for _, e := range found {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var differ string
			for range attempts {
				if differ = e.differs(t, binary); differ == "" {
					return
				}
				t.Logf("this attempt does not show what the page shows:\n%s", differ)
			}
			t.Errorf("%s: %s", e.name, differ)
		})
	}
}

// build builds the command and returns the directory that it is in.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	said, err := exec.Command("go", "build", "-o", filepath.Join(dir, "kinform"), module+"cmd/kinform").CombinedOutput()
	require.NoError(t, err, "%s", said)
	return dir
}

// experiment is one console block.
type experiment struct {
	name  string // the heading above, and which block below it
	steps []step
}

// step is one command, and the lines that it prints.
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

// differs runs an experiment and says what is not as it is shown.
func (e experiment) differs(t *testing.T, binary string) string {
	address := freeAddress(t)
	sh := newShell(t, binary)
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

func freeAddress(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// shell is one shell, in a directory of its own, that runs one command after another.
type shell struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	lines chan string
	done  sync.WaitGroup
}

func newShell(t *testing.T, binary string) *shell {
	t.Helper()
	s := &shell{cmd: exec.Command("sh"), lines: make(chan string, 1000)}
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append(os.Environ(), "PATH="+binary+string(os.PathListSeparator)+os.Getenv("PATH"))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // So end reaches what the shell has started.
	output, outputEnd, err := os.Pipe()
	require.NoError(t, err)
	s.cmd.Stdout, s.cmd.Stderr = outputEnd, outputEnd
	s.input, err = s.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	require.NoError(t, outputEnd.Close())
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
	return s
}

// end ends the shell and what it has started.
func (s *shell) end() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait()
	for range s.lines {
	}
	s.done.Wait()
}

// run runs a command and returns what it printed. A server in the background is waited
// for: a person would not have typed the next command yet.
func (s *shell) run(command string) (said string, err error) {
	const end = "the command has ended"
	if _, err := fmt.Fprintf(s.input, "%s\necho; echo '%s'\n", command, end); err != nil {
		return "", err
	}
	serves := strings.Contains(command, "kinform apiserver") && strings.Contains(command, "&")
	timeout := time.After(attemptWithin)
	for ended := false; !ended || serves; {
		select {
		case line, open := <-s.lines:
			switch {
			case !open:
				return said, fmt.Errorf("the shell has ended")
			case strings.TrimSpace(line) == end:
				ended = true
				said = strings.TrimSuffix(said, "\n") // that of echo
				continue
			case strings.HasPrefix(line, "Serving "):
				serves = false
			}
			said += line
		case <-timeout:
			return said, fmt.Errorf("it has not ended within %v", attemptWithin)
		}
	}
	return said, nil
}

var (
	aTime   = regexp.MustCompile(`\b(\d+(\.\d+)?(ns|µs|ms|m|s))+\b`)
	aDate   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	spaces  = regexp.MustCompile(`\s+`)
	anyLine = "..."
)

// plainly replaces what differs from run to run, and a time is.
func plainly(line string) string {
	line = aTime.ReplaceAllString(line, "<time>")
	line = aDate.ReplaceAllString(line, "<date>")
	return strings.TrimSpace(spaces.ReplaceAllString(line, " "))
}

// matches says whether lines are as shown.
func matches(shown, lines []string) bool {
	shown, lines = without(shown), without(lines)
	if len(shown) == 0 {
		return len(lines) == 0
	}
	if shown[0] == anyLine {
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
	var pattern []string
	for _, part := range strings.Split(plainly(shown[0]), "...") {
		pattern = append(pattern, regexp.QuoteMeta(part))
	}
	line := regexp.MustCompile("^" + strings.Join(pattern, ".*") + "$")
	return line.MatchString(plainly(lines[0])) && matches(shown[1:], lines[1:])
}

// without leaves out empty lines, as a page may have them where they help a reader.
func without(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.TrimSpace(line) == "" })
}

func TestWhatIsShownIsCompared(t *testing.T) {
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
		{"since 2026-11-22T18:01:03Z", "since 2027-01-01T00:00:00Z", true},
		{"", "anything", false},
	} {
		require.Equal(t, c.same, matches(strings.Split(c.shown, "\n"), strings.Split(c.printed, "\n")), "%q, %q", c.shown, c.printed)
	}
}
