package execauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	encpem "encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest"
)

// newPlugin returns a plugin that runs this test binary.
func newPlugin(t *testing.T, what string, opts Options) *Plugin {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	opts.Env = append(opts.Env, rest.Secrets(role+"="+what, "GORACE=atexit_sleep_ms=0")...)
	p, err := New(self, opts)
	require.NoError(t, err)
	return p
}

// filePlugin is a plugin that prints a file, which the test writes.
type filePlugin struct {
	*Plugin
	t             *testing.T
	path, journal string
}

func newFilePlugin(t *testing.T) *filePlugin {
	dir := t.TempDir()
	f := &filePlugin{t: t, path: filepath.Join(dir, "answer"), journal: filepath.Join(dir, "journal")}
	f.Plugin = newPlugin(t, "file", Options{Args: rest.Secrets(f.path, f.journal)})
	return f
}

// says sets the output of the plugin.
func (f *filePlugin) says(status string) {
	text := fmt.Sprintf(`{"kind":"ExecCredential","apiVersion":%q,"status":%s}`, V1, status)
	require.NoError(f.t, os.WriteFile(f.path, []byte(text), 0o600))
}

// runs returns the number of processes so far.
func (f *filePlugin) runs() int { return len(pids(f.t, f.journal)) }

func pids(t *testing.T, journal string) []string {
	data, err := os.ReadFile(journal)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return strings.Fields(string(data))
}

func (f *filePlugin) token(refused *rest.Credential) *rest.Credential {
	f.t.Helper()
	c, err := f.Credential(f.t.Context(), refused)
	require.NoError(f.t, err)
	return c
}

func TestCredentialIsKeptUntilItIsRefused(t *testing.T) {
	t.Parallel()
	f := newFilePlugin(t)
	require.Zero(t, f.runs(), "New must not start the plugin")
	f.says(`{"token":"one","unknown":1}`)
	one := f.token(nil)
	require.Equal(t, "one", one.Token.Reveal())
	require.Same(t, one, f.token(nil))
	require.Equal(t, 1, f.runs())

	f.says(`{"token":"two"}`)
	two := f.token(one)
	require.Equal(t, "two", two.Token.Reveal())
	require.Same(t, two, f.token(one), "the second credential has already replaced the refused credential, so the plugin must not run again")
	require.Equal(t, 2, f.runs())
}

func TestExpiredCredentialIsReplaced(t *testing.T) {
	t.Parallel()
	f := newFilePlugin(t)
	expires := func(in time.Duration) time.Time {
		at := time.Now().Add(in).Truncate(time.Second)
		f.says(fmt.Sprintf(`{"token":"a","expirationTimestamp":%q}`, at.UTC().Format(time.RFC3339)))
		return at
	}
	at := expires(time.Hour)
	f.token(nil)
	f.token(nil)
	require.Equal(t, 1, f.runs())
	require.WithinDuration(t, at.Add(-maxMargin), f.expiry, time.Second, "the credential must expire maxMargin before its expirationTimestamp")

	f.expiry = time.Now().Add(-time.Second)
	expires(-time.Hour)
	old := f.token(nil)
	require.Equal(t, 2, f.runs())
	require.Same(t, old, f.token(nil), "an expired credential must be used in the pause, because this machine's clock may be wrong")
	require.Equal(t, 2, f.runs(), "in the pause, the plugin must not run")
}

// TestFailingPluginBacksOff: if a plugin fails, or servers refuse all its credentials, it runs only
// a few times in a minute. The number of requests does not matter.
func TestFailingPluginBacksOff(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"fails": "", "is refused": `{"token":"a"}`, "has expired": `{"token":"a","expirationTimestamp":"1999-01-01T00:00:00Z"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFilePlugin(t)
				if says != "" {
					f.says(says)
				}
				began := time.Now()
				var at []time.Duration // times of the runs
				var last *rest.Credential
				for time.Since(began) < time.Minute {
					credential, err := f.Credential(t.Context(), last)
					if name == "is refused" {
						last = credential
					}
					require.Equal(t, says == "", err != nil)
					if n := f.runs(); n > len(at) {
						at = append(at, time.Since(began))
					} else if err != nil {
						require.ErrorContains(t, err, `": exit status 1 (at the last run; the next run is possible in `)
						require.ErrorContains(t, err, "standard error: open ")
						require.ErrorAs(t, err, new(*exec.ExitError))
					}
					time.Sleep(100 * time.Millisecond)
				}
				want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 15 * time.Second, 25 * time.Second, 35 * time.Second, 45 * time.Second, 55 * time.Second}
				if name == "is refused" { // the first refusal starts a run at once
					want = append([]time.Duration{0}, want...)
					for i := range want[1:] {
						want[i+1] += 100 * time.Millisecond
					}
				}
				require.Equal(t, want, at)

				f.says(`{"token":"good"}`)
				time.Sleep(maxPause)
				require.Equal(t, "good", f.token(last).Token.Reveal())
			})
		})
	}
}

// TestCancelledRunStartsNoPause: if the context of a run's caller has ended, the failure of this
// run does not start a pause.
func TestCancelledRunStartsNoPause(t *testing.T) {
	t.Parallel()
	f := newFilePlugin(t)
	f.says(`{"token":"a"}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.Credential(ctx, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "a", f.token(nil).Token.Reveal())
}

func TestClientCertificate(t *testing.T) {
	t.Parallel()
	f := newFilePlugin(t)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	end := time.Now().Add(time.Minute).Truncate(time.Second)
	template := &x509.Certificate{SerialNumber: big.NewInt(7), NotAfter: end}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	block := func(kind string, data []byte) string {
		text, err := json.Marshal(string(encpem.EncodeToMemory(&encpem.Block{Type: kind, Bytes: data})))
		require.NoError(t, err)
		return string(text)
	}
	f.says(`{"clientCertificateData":` + block("CERTIFICATE", cert) + `,"clientKeyData":` + block("PRIVATE KEY", key) + `}`)
	c := f.token(nil)
	require.True(t, c.Token.IsZero())
	require.EqualValues(t, 7, c.Certificate().Leaf.SerialNumber.Int64())
	require.WithinDuration(t, end, f.expiry, maxMargin, "the credential must expire with the certificate")
}

func TestPluginGetsExecInfo(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca")
	require.NoError(t, os.WriteFile(ca, []byte("CA"), 0o600))
	for _, version := range []string{V1, V1beta1} {
		for _, test := range []struct {
			cluster *Cluster
			want    string
		}{
			{nil, `{"interactive":false}`},
			{&Cluster{Server: "https://x", CAFile: ca, Config: rest.NewSecret(`{"audience":["a"]}`)},
				`{"interactive":false,"cluster":{"server":"https://x","certificate-authority-data":"Q0E=","config":{"audience":["a"]}}}`},
			{&Cluster{Server: "https://x", TLSServerName: "y", Insecure: true, CAData: []byte("CA"), ProxyURL: rest.NewSecret("http://p"), DisableCompression: true},
				`{"interactive":false,"cluster":{"server":"https://x","tls-server-name":"y","insecure-skip-tls-verify":true,"certificate-authority-data":"Q0E=","proxy-url":"http://p","disable-compression":true}}`},
		} {
			p := newPlugin(t, "echo", Options{
				APIVersion: version, Args: rest.Secrets("get", "token"), Env: rest.Secrets("GREETING=hello"), Cluster: test.cluster, InteractiveMode: Never,
			})
			c, err := p.Credential(t.Context(), nil)
			require.NoError(t, err)
			told := strings.SplitN(c.Token.Reveal(), "|", 3)
			require.Equal(t, []string{"get,token", "hello"}, told[:2])
			require.JSONEq(t, fmt.Sprintf(`{"apiVersion":%q,"kind":"ExecCredential","spec":%s}`, version, test.want), told[2])
		}
	}
}

func TestInteractiveModes(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	for _, test := range []struct {
		mode     InteractiveMode
		terminal bool
		want     string
	}{
		{Never, true, `"interactive":false`},
		{IfAvailable, true, `"interactive":true`}, {IfAvailable, false, `"interactive":false`},
		{Always, true, `"interactive":true`}, {Always, false, ""},
	} {
		p := newPlugin(t, "echo", Options{InteractiveMode: test.mode, Stdin: null})
		require.False(t, p.isTerminal(null))
		p.isTerminal = func(*os.File) bool { return test.terminal }
		c, err := p.Credential(t.Context(), nil)
		if test.want == "" {
			require.ErrorIs(t, err, ErrNoTerminal)
			continue
		}
		require.NoError(t, err)
		require.Contains(t, c.Token.Reveal(), test.want)
	}
}

func TestOneProcessServesAllWaitingCallers(t *testing.T) {
	t.Parallel()
	f := newFilePlugin(t)
	f.says(`{"token":"a"}`)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			c, err := f.Credential(t.Context(), nil)
			if err != nil || c.Token.Reveal() != "a" {
				t.Errorf("%v %v", c, err)
			}
		})
	}
	group.Wait()
	require.Equal(t, 1, f.runs())

	require.NoError(t, os.Remove(f.path))
	old := f.token(nil)
	for range 50 {
		group.Go(func() {
			if _, err := f.Credential(t.Context(), old); !errors.As(err, new(*Error)) {
				t.Errorf("%v", err)
			}
		})
	}
	group.Wait()
	require.Equal(t, 2, f.runs(), "callers that wait for a failed run, or come in the pause after it, must get its error")
}

// waitForPID waits until n plugins run, and returns the process ID of the last one.
func waitForPID(t *testing.T, journal string, n int) int {
	var all []string
	require.Eventually(t, func() bool { all = pids(t, journal); return len(all) == n }, time.Minute, time.Millisecond)
	pid, err := strconv.Atoi(all[n-1])
	require.NoError(t, err)
	return pid
}

func TestCancelKillsProcessAndWaiterStartsAnother(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "journal")
	p := newPlugin(t, "hang", Options{Args: rest.Secrets(journal)})
	call := func() (end context.CancelFunc, result chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		result = make(chan error, 1)
		go func() {
			_, err := p.Credential(ctx, nil)
			result <- err
		}()
		return cancel, result
	}
	endFirst, first := call()
	pid := waitForPID(t, journal, 1)
	endSecond, second := call()
	endThird, third := call()
	endThird()
	require.Equal(t, context.Canceled, <-third, "a caller that waits for another caller's process must return when its context ends")
	require.NoError(t, syscall.Kill(pid, 0), "the process must continue")

	endFirst()
	require.ErrorIs(t, <-first, context.Canceled)
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the process must be killed, although it ignores SIGINT and SIGTERM")
	waitForPID(t, journal, 2)
	endSecond()
	require.ErrorIs(t, <-second, context.Canceled)
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	p := newPlugin(t, "hang", Options{Args: rest.Secrets(os.DevNull), Timeout: 50 * time.Millisecond})
	_, err := p.Credential(t.Context(), nil)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.ErrorContains(t, err, "the plugin did not end within 50ms")
}

func TestMissingCommandShowsInstallHint(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"no-such-command-anywhere", "/no/such/command"} {
		p, err := New(command, Options{InstallHint: "Install it\nwith \x1b[31mapt-get\x1b[0m."})
		require.NoError(t, err)
		_, err = p.Credential(t.Context(), nil)
		require.ErrorContains(t, err, `exec plugin "`+command+`": `)
		require.ErrorContains(t, err, ": Install it; with [31mapt-get[0m.", "the hint must contain no escape sequences")
		require.True(t, errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist))

		p, err = New(command, Options{})
		require.NoError(t, err)
		_, err = p.Credential(t.Context(), nil)
		require.ErrorContains(t, err, "install it, or check the path")
	}
	p := newPlugin(t, "echo", Options{InstallHint: "Install it.", Cluster: &Cluster{CAFile: "/no/such/ca"}})
	_, err := p.Credential(t.Context(), nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotContains(t, err.Error(), "Install", "the error must not have the hint if only the CA file is missing")
}

func TestNewRefusesInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command string
		opts    Options
		reason  string
	}{
		{"", Options{}, "a command is required"},
		{"a", Options{APIVersion: "client.authentication.k8s.io/v1alpha1"}, "v1alpha1"},
		{"a", Options{InteractiveMode: "Sometimes"}, `"Sometimes" is unknown`},
		{"a", Options{Timeout: -1}, "negative"},
	} {
		_, err := New(test.command, test.opts)
		require.ErrorContains(t, err, test.reason)
	}
}

// TestPanickingRunBlocksNoCaller: if a run panics, other callers do not wait for ever.
func TestPanickingRunBlocksNoCaller(t *testing.T) {
	t.Parallel()
	f := newFilePlugin(t)
	f.says(`{"token":"a"}`)
	terminal := f.isTerminal
	f.isTerminal = func(*os.File) bool { panic("no luck") }
	require.PanicsWithValue(t, "no luck", func() { _, _ = f.Credential(t.Context(), nil) })
	f.isTerminal = terminal
	_, err := f.Credential(t.Context(), nil)
	require.ErrorContains(t, err, "the run has not ended", "in the pause after the panic, callers must get this error")
	f.pauseUntil = time.Now()
	require.Equal(t, "a", f.token(nil).Token.Reveal())
}

func TestStderrAndOnExit(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	var ends []error
	p := newPlugin(t, "fail", Options{
		Args: rest.Secrets("visit this page"), InteractiveMode: Never, Stderr: &said, OnExit: func(err error) { ends = append(ends, err) },
	})
	_, err := p.Credential(t.Context(), nil)
	require.ErrorContains(t, err, "visit this page")
	require.Equal(t, "visit this page", said.String())

	p = newPlugin(t, "echo", Options{Stderr: brokenWriter{}, OnExit: func(err error) { ends = append(ends, err) }})
	_, err = p.Credential(t.Context(), nil)
	require.NoError(t, err)
	p = newPlugin(t, "echo", Options{Policy: Policy{Type: DenyAll}, OnExit: func(err error) { ends = append(ends, err) }})
	_, err = p.Credential(t.Context(), nil)
	require.ErrorIs(t, err, ErrNotAllowed)
	require.Len(t, ends, 3)
	_, exited := errors.AsType[*exec.ExitError](ends[0])
	require.True(t, exited, "%v", ends[0])
	require.NoError(t, ends[1])
	require.ErrorIs(t, ends[2], ErrNotAllowed)
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestCredentialInYAML(t *testing.T) {
	t.Parallel()
	f := newFilePlugin(t)
	require.NoError(t, os.WriteFile(f.path, []byte("kind: ExecCredential\napiVersion: "+V1+"\nstatus:\n  token: in-yaml\n  expirationTimestamp: 2100-01-01T00:00:00Z\n"), 0o600))
	require.Equal(t, "in-yaml", f.token(nil).Token.Reveal())
}
