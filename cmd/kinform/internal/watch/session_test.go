package watch

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// connect writes a kubeconfig for a server and returns its path.
func connect(t *testing.T, s *apitest.Server) string {
	t.Helper()
	return save(t, rest.Config{Host: s.URL()})
}

func save(t *testing.T, config rest.Config) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, kubeconfig.Write(path, kubeconfig.Connection{Config: config, Context: "test", Namespace: "home"}))
	return path
}

// certified returns the configuration of a client whose certificate the server accepts.
func certified(s *apitest.Server) rest.Config {
	certificate, key := s.ClientCertificate()
	return rest.Config{Host: s.URL(), TLS: rest.TLSConfig{
		CAData: s.CA(), CertData: certificate, KeyData: rest.NewSecret(key), KeyPair: tls.X509KeyPair,
	}}
}

// put creates pods.
func put(t *testing.T, s *apitest.Server, pods ...*corev1.Pod) {
	t.Helper()
	for _, pod := range pods {
		_, err := s.Create(pod)
		require.NoError(t, err)
	}
}

func pod(namespace, name string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}}}
	p.Status.Phase = corev1.PodPending
	for i := 0; i < len(labels); i += 2 {
		p.Labels[labels[i]] = labels[i+1]
	}
	return p
}

// session is a running "kinform watch".
type session struct {
	t           *testing.T
	out, errOut buffer
	read        int // number of lines of out that next has returned
	end         context.CancelFunc
	ended       chan struct{}
	err         error // valid after ended has been closed
}

// start starts "kinform watch" with these arguments. It raises --connect-timeout, because a busy
// machine may need longer than the default.
func start(t *testing.T, args ...string) *session {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &session{t: t, end: cancel, ended: make(chan struct{})}
	cmd := Command()
	cmd.SetArgs(append([]string{"--connect-timeout", "1m"}, args...))
	cmd.SetOut(&s.out)
	cmd.SetErr(&s.errOut)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	go func() {
		defer close(s.ended)
		s.err = cmd.ExecuteContext(ctx)
	}()
	t.Cleanup(func() { _ = s.stop() })
	return s
}

// next returns the next line of the output.
func (s *session) next() string {
	s.t.Helper()
	s.eventually(func() bool { return strings.Count(s.out.String(), "\n") > s.read })
	s.read++
	return strings.Split(s.out.String(), "\n")[s.read-1]
}

// event returns the next line of the output with -o json.
func (s *session) event() eventOutput {
	s.t.Helper()
	var e eventOutput
	require.NoError(s.t, json.Unmarshal([]byte(s.next()), &e))
	return e
}

// requireStderr waits until standard error contains a text.
func (s *session) requireStderr(text string) {
	s.t.Helper()
	s.eventually(func() bool { return strings.Contains(s.errOut.String(), text) })
}

func (s *session) eventually(condition func() bool) {
	s.t.Helper()
	defer func() {
		if s.t.Failed() {
			s.t.Logf("standard output:\n%s\nstandard error:\n%s", s.out.String(), s.errOut.String())
		}
	}()
	require.Eventually(s.t, condition, time.Minute, 2*time.Millisecond)
}

// stop interrupts the session like Ctrl-C, and returns its error.
func (s *session) stop() error {
	s.end()
	return s.wait()
}

// wait waits until the session ends without an interrupt, and returns its error.
func (s *session) wait() error {
	<-s.ended
	return s.err
}

// buffer can be read while another goroutine writes to it.
type buffer struct {
	mu   sync.Mutex // guards following
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
