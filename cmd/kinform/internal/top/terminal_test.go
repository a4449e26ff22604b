//go:build unix

package top

import (
	"bytes"
	"context"
	"image/color"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/term"

	"github.com/kinform/kinform/internal/testing/testsize"
)

// emulated runs "kinform top" in a pseudo-terminal. A terminal emulator keeps the content of the
// screen.
type emulated struct {
	t      *testing.T
	screen *vt.SafeEmulator
	cells  sync.Mutex // held while cells of the screen are written or read
	master *os.File
	tty    *os.File
	stop   context.CancelFunc
	ended  chan error
	copied sync.WaitGroup

	mu    sync.Mutex // guards following
	wrote bytes.Buffer
	title string
	pause chan struct{} // non-nil while reading is paused; closed when it continues
}

// open makes a terminal.
func open(t *testing.T, width, height int) *emulated {
	t.Helper()
	master, tty, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}))
	e := &emulated{t: t, screen: vt.NewSafeEmulator(width, height), master: master, tty: tty, ended: make(chan error, 1)}
	e.screen.SetCallbacks(vt.Callbacks{Title: func(title string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.title = title
	}})
	// Output for the old, taller screen may arrive after a resize. A real terminal ignores margins
	// beyond its screen. The emulator panics when it scrolls between such margins.
	e.screen.RegisterCsiHandler('r', func(params ansi.Params) bool {
		bottom, _, ok := params.Param(1, 0)
		return ok && bottom > e.screen.Emulator.Height()
	})
	e.copied.Go(func() {
		buffer := make([]byte, 32<<10)
		for {
			e.mu.Lock()
			pause := e.pause
			e.mu.Unlock()
			if pause != nil {
				<-pause
			}
			n, err := master.Read(buffer)
			if err != nil {
				return
			}
			e.mu.Lock()
			e.wrote.Write(buffer[:n])
			e.mu.Unlock()
			e.cells.Lock()
			_, _ = e.screen.Write(buffer[:n])
			e.cells.Unlock()
		}
	})
	e.copied.Go(func() { _, _ = io.Copy(master, e.screen) }) // passes on the terminal's own replies
	return e
}

// top runs "kinform top" in a terminal of this size.
func top(t *testing.T, width, height int, args ...string) *emulated {
	t.Helper()
	e := open(t, width, height)
	e.run(args...)
	return e
}

func (e *emulated) run(args ...string) {
	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	go func() {
		cmd := Command()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(append([]string{}, args...)) // With nil, cobra would use the flags of the test.
		cmd.SetIn(e.tty)
		cmd.SetOut(e.tty)
		cmd.SetErr(io.Discard)
		e.ended <- cmd.ExecuteContext(ctx)
	}()
	e.t.Cleanup(func() {
		stop()
		if e.ended != nil {
			<-e.ended
		}
		e.close()
	})
}

// close closes the terminal, and waits until all of its readers have ended.
func (e *emulated) close() {
	_ = e.tty.Close()
	_ = e.screen.InputPipe().(io.Closer).Close()
	e.copied.Wait()
	_ = e.master.Close()
}

func (e *emulated) rows() []string {
	e.cells.Lock()
	defer e.cells.Unlock()
	all := make([]string, e.screen.Height())
	for y := range all {
		var b strings.Builder
		for x := 0; x < e.screen.Width(); {
			cell := e.screen.CellAt(x, y)
			if cell == nil || cell.Width == 0 {
				x++
				continue
			}
			b.WriteString(cell.Content)
			x += cell.Width
		}
		all[y] = strings.TrimRight(b.String(), " ")
	}
	return all
}

func (e *emulated) text() string { return strings.Join(e.rows(), "\n") }

const patience = 2 * time.Minute // because the machine may be slow

// until(what, is) waits until the screen meets a condition, and returns the screen.
func (e *emulated) until(what string, is func(screen string) bool) string {
	e.t.Helper()
	for began := time.Now(); ; time.Sleep(40 * time.Millisecond) {
		shown := e.text()
		if is(shown) {
			return shown
		}
		select {
		case err := <-e.ended:
			e.ended = nil
			require.FailNow(e.t, "the command ended early", "%v\n%s", err, shown)
		default:
		}
		require.Less(e.t, time.Since(began), patience, "waiting for %s:\n%s", what, shown)
	}
}

func (e *emulated) has(texts ...string) string {
	e.t.Helper()
	return e.until(strings.Join(texts, ", "), func(shown string) bool {
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				return false
			}
		}
		return true
	})
}

// press sends keys in the same way as a terminal.
func (e *emulated) press(keys string) {
	e.t.Helper()
	_, err := e.master.WriteString(keys)
	require.NoError(e.t, err)
}

// wait waits for the end of the command, and returns its error.
func (e *emulated) wait() error {
	e.t.Helper()
	select {
	case err := <-e.ended:
		e.ended = nil
		return err
	case <-time.After(patience):
		require.FailNow(e.t, "the command does not end", "%s", e.text())
		return nil
	}
}

const (
	escape = "\x1b"
	down   = "\x1b[B"
	right  = "\x1b[C"
	home   = "\x1b[H"
	enter  = "\r"
	ctrlC  = "\x03"
)

func (e *emulated) resize(width, height int) {
	e.t.Helper()
	e.cells.Lock()
	e.screen.Resize(width, height)
	e.cells.Unlock()
	require.NoError(e.t, pty.Setsize(e.master, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}))
	// The kernel signals only for controlling terminals.
	require.NoError(e.t, syscall.Kill(os.Getpid(), syscall.SIGWINCH))
}

// style returns the style of a cell.
func (e *emulated) style(x, y int) uv.Style {
	e.cells.Lock()
	defer e.cells.Unlock()
	if cell := e.screen.CellAt(x, y); cell != nil {
		return cell.Style
	}
	return uv.Style{}
}

// colourOf returns the colour of the first occurrence of a text on the screen.
func (e *emulated) colourOf(text string) color.Color {
	e.t.Helper()
	for y, row := range e.rows() {
		if at := strings.Index(row, text); at >= 0 {
			return e.style(cells(row[:at]), y).Fg
		}
	}
	require.FailNow(e.t, "not on the screen", "%s:\n%s", text, e.text())
	return nil
}

func TestQuitRestoresTheTerminal(t *testing.T) {
	for how, end := range map[string]func(e *emulated){
		"q":        func(e *emulated) { e.press("q") },
		"Ctrl-C":   func(e *emulated) { e.press(ctrlC) },
		"a signal": func(e *emulated) { e.stop() },
	} {
		t.Run(how, func(t *testing.T) {
			e := open(t, 80, 24)
			before, err := term.GetState(int(e.tty.Fd()))
			require.NoError(t, err)
			e.run()
			e.has("1 API server", "7 Workers", "● live")
			require.True(t, e.screen.IsAltScreen())
			require.True(t, e.screen.CursorHidden())
			end(e)
			require.NoError(t, e.wait())
			require.Eventually(t, func() bool { return !e.screen.IsAltScreen() && !e.screen.CursorHidden() }, patience, 10*time.Millisecond)
			after, err := term.GetState(int(e.tty.Fd()))
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}

func TestErrorWithoutATerminal(t *testing.T) {
	cmd := Command()
	cmd.SetArgs(nil)
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SetIn(strings.NewReader(""))
	require.ErrorContains(t, cmd.ExecuteContext(t.Context()), "top needs a terminal for input and output: --once prints one frame as text, and kinform lab --open")
	for _, dumb := range []string{"dumb", ""} {
		t.Setenv("TERM", dumb)
		e := top(t, 80, 24)
		require.ErrorContains(t, e.wait(), "TERM names none that does: --once prints one frame as text")
	}
}

func TestColoursFitTheBackground(t *testing.T) {
	for name, tt := range map[string]struct{ ground, want color.Color }{
		"light": {color.White, rgb(colours[accent].light)},
		"dark":  {color.Black, rgb(colours[accent].dark)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("COLORTERM", "truecolor")
			e := open(t, 80, 24)
			e.screen.SetBackgroundColor(tt.ground)
			e.run("--pods", "3")
			e.has("● live")
			same := func(a, b color.Color) bool {
				if a == nil {
					return false
				}
				r, g, bl, _ := a.RGBA()
				wr, wg, wb, _ := b.RGBA()
				return r>>8 == wr>>8 && g>>8 == wg>>8 && bl>>8 == wb>>8
			}
			e.until("the colour", func(string) bool { return same(e.colourOf("1 API server"), tt.want) })
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Setenv("NO_COLOR", "1")
		e := top(t, 80, 24, "--pods", "3", "--rate", "50")
		e.has("● live", "~")
		for y := range e.screen.Height() {
			for x := range e.screen.Width() {
				style := e.style(x, y)
				require.Nil(t, style.Fg)
				require.Nil(t, style.Bg)
			}
		}
	})
}

func TestResize(t *testing.T) {
	e := top(t, 80, 24, "--pods", "7")
	e.has("● live")
	for _, size := range [][2]int{{160, 48}, {100, 30}, {60, 20}, {240, 70}, {80, 24}} {
		e.resize(size[0], size[1])
		shown := e.until("the whole width", func(shown string) bool {
			rows := strings.Split(shown, "\n")
			return len(rows) == size[1] && cells(rows[2]) == size[0] && strings.HasPrefix(rows[2], "┌1 API") && strings.HasSuffix(rows[2], "┐") &&
				strings.Contains(rows[size[1]-1], "? keys")
		})
		for _, row := range strings.Split(shown, "\n") {
			require.LessOrEqual(t, cells(row), size[0])
		}
	}
	e.resize(40, 10)
	e.has("This terminal has 40 by 10 cells, and 60", "q quits.")
	e.press("q")
	require.NoError(t, e.wait())
}

// After a pause, a slow reader sees the newest frame and none of the frames in between.
func TestASlowTerminalMissesFrames(t *testing.T) {
	testsize.SkipIfShort(t, "waits for frames that are missed")
	e := top(t, 120, 40, "--rate", "500")
	e.has("● live")
	pause := make(chan struct{})
	e.mu.Lock()
	e.pause = pause
	e.mu.Unlock()
	time.Sleep(3 * time.Second) // Meanwhile the terminal's buffer fills up.
	e.mu.Lock()
	e.wrote.Reset()
	e.pause = nil
	e.mu.Unlock()
	close(pause)
	e.has("frames missed:")
	e.press("q")
	require.NoError(t, e.wait())
}
