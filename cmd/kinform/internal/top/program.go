//go:build !js

package top

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"github.com/kinform/kinform/view"
)

// runTerminal shows a page on a terminal until the user quits or ctx ends. When it returns, all of
// its goroutines have ended.
func runTerminal(ctx context.Context, p *page, all view.Pipelines, in io.Reader, out *os.File) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := newScreen(p, time.Now())
	follower := newFollower(p)
	s.follow = follower.follow
	var started sync.WaitGroup
	program := tea.NewProgram(&model{screen: s, begin: func() { s.begin(all) }}, tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithFPS(30))
	s.start = func(do func(context.Context) any) {
		started.Go(func() { program.Send(resultMsg{do(ctx)}) })
	}
	// Log output would disturb the screen.
	before := log.Writer()
	logs := make(logWriter, 1)
	log.SetOutput(logs)
	defer log.SetOutput(before)
	started.Go(func() { feed(ctx, program, follower, logs) })
	// Only after Quit does the library wait for its goroutine that reads keys. It does not wait
	// when its context ends.
	started.Go(func() { <-ctx.Done(); program.Quit() })
	_, err := program.Run()
	stop()
	follower.end()
	started.Wait()
	return err
}

// clockInterval is the interval of the clock.
const clockInterval = 50 * time.Millisecond

// feed sends a program the content of the stream, and ticks of the clock. The program handles one
// message at a time. While its terminal is slow, frames are skipped, so that no frame has to wait.
func feed(ctx context.Context, program *tea.Program, f *follower, logs logWriter) {
	tick := time.NewTicker(clockInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.more:
			program.Send(streamMsg{f.take()})
		case now := <-tick.C:
			program.Send(tickMsg(now))
		case line := <-logs:
			program.Send(logMsg(line))
		}
	}
}

// messages of the program
type (
	streamMsg struct{ streamUpdate }
	tickMsg   time.Time
	resultMsg struct{ result any }
	logMsg    string
)

// logWriter keeps one unread log line. A logger that writes to it never blocks.
type logWriter chan string

// Write implements io.Writer.
func (l logWriter) Write(p []byte) (int, error) {
	select {
	case l <- strings.TrimSpace(string(p)):
	default:
	}
	return len(p), nil
}

// model adapts the screen to the terminal library.
type model struct {
	screen  *screen
	begin   func()
	view    tea.View
	changed bool
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	m.begin()
	m.changed = true
	return tea.RequestBackgroundColor
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	s := m.screen
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		s.key(msg.String())
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		g := lightBackground
		if msg.IsDark() {
			g = darkBackground
		}
		s.colors = paletteFor(g)
	case streamMsg:
		s.handleUpdate(msg.streamUpdate)
	case tickMsg:
		if !s.tick(time.Time(msg)) {
			return m, nil
		}
	case resultMsg:
		s.handleResult(msg.result)
	case logMsg:
		s.showMessage(safe(string(msg)), true)
	default:
		return m, nil
	}
	m.changed = true
	if s.quit {
		return m, tea.Quit
	}
	return m, nil
}

// View implements tea.Model.
func (m *model) View() tea.View {
	if m.changed {
		m.changed = false
		m.view = tea.NewView(m.screen.colors.render(m.screen.draw()))
		m.view.AltScreen = true
	}
	return m.view
}

// checkTerminal returns an error unless input and output are both terminals. The error says what to
// use instead.
func checkTerminal(in io.Reader, out *os.File) error {
	file, ok := in.(*os.File)
	switch {
	case out == nil || !term.IsTerminal(int(out.Fd())) || !ok || !term.IsTerminal(int(file.Fd())):
		return errors.New("top needs a terminal for input and output: --once prints one frame as text, and kinform lab --open has a page for a browser")
	case os.Getenv("TERM") == "dumb" || os.Getenv("TERM") == "":
		return errors.New("top needs a terminal that supports drawing, and TERM names none that does: --once prints one frame as text, and kinform lab --open has a page for a browser")
	}
	return nil
}
