package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/bench/internal/subject"
)

// server is the API server that all clients talk to. It distinguishes them by their User-Agent.
type server struct {
	*apitest.Server
	http    http.Server
	serving sync.WaitGroup
	url     string
	pods    int
	writes  int // counts writes, so that each write differs

	mu      sync.Mutex               // guards following
	held    map[string]chan struct{} // closed to release the watch of a client
	blocked map[string]bool          // clients whose watch is held back
	lists   map[string]string        // the first list of a client: encoding and mode
}

// newServer makes a server with pods. Its history is long enough for this many updates.
func newServer(pods, updates int) (*server, error) {
	s := &server{
		Server: apitest.New(apitest.Options{
			Window:           2*updates + 1000,
			BookmarkInterval: time.Hour, // no bookmark may come during a measurement
		}),
		pods:    pods,
		held:    make(map[string]chan struct{}),
		blocked: make(map[string]bool),
		lists:   make(map[string]string),
	}
	if err := apitest.Populate(s.Server, apitest.Pods(pods, apitest.PodOptions{})); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.url = "http://" + l.Addr().String()
	s.http.Handler = s
	s.serving.Go(func() { _ = s.http.Serve(l) }) // its only error comes from Close
	return s, nil
}

// Close stops the server and everything in it.
func (s *server) Close() {
	_ = s.http.Close()
	s.serving.Wait()
	s.Server.Close()
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	stream := query.Get("sendInitialEvents") == "true"
	if watch := query.Get("watch"); (watch == "true" || watch == "1") && !stream {
		w = s.holdWriter(w, r)
	} else if strings.HasSuffix(r.URL.Path, "/pods") {
		// excludes a manager's discovery, which is in JSON
		s.note(r, stream)
	}
	s.Server.ServeHTTP(w, r)
}

// note records a client's first list.
func (s *server) note(r *http.Request, stream bool) {
	encoding, mode := subject.JSON, subject.List
	if strings.HasPrefix(r.Header.Get("Accept"), "application/vnd.kubernetes.protobuf") {
		encoding = subject.Protobuf
	}
	if stream {
		mode = subject.WatchList
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lists[r.UserAgent()] == "" {
		s.lists[r.UserAgent()] = encoding + " " + mode
	}
}

// check returns an error if a client's first list was not in this encoding and mode.
func (s *server) check(name, encoding, mode string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if want := encoding + " " + mode; s.lists[name] != want {
		return fmt.Errorf("%s should have listed with %s, but did with %q", name, want, s.lists[name])
	}
	return nil
}

// hold makes the server hold back later watches of a client, until release.
func (s *server) hold(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[name] = make(chan struct{})
}

// release releases the watch of a client.
func (s *server) release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.held[name])
	delete(s.held, name)
	delete(s.blocked, name)
}

// holdWriter returns w, or a writer that holds back the events of a watch if watches of this client
// are held back.
func (s *server) holdWriter(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := s.held[r.UserAgent()]
	s.blocked[r.UserAgent()] = gate != nil
	if gate == nil {
		return w
	}
	return &heldWriter{ResponseWriter: w, gate: gate, gone: r.Context().Done()}
}

// heldWriter writes the headers of a response at once, so that the client does not take the server
// for dead while other clients are measured. It writes the body only when gate is closed, or when
// the client has gone.
type heldWriter struct {
	http.ResponseWriter
	gate, gone <-chan struct{}
}

// Write implements http.ResponseWriter.
func (w *heldWriter) Write(p []byte) (int, error) {
	select {
	case <-w.gate:
	case <-w.gone:
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap gives http.ResponseController the writer that flushes.
func (w *heldWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// waitUntilHeld waits until the server holds back a watch of the client.
func (s *server) waitUntilHeld(name string) error {
	return eventually(name+" has not asked for a watch", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.blocked[name]
	})
}

// update makes n updates, pod by pod. Each update restarts a container.
func (s *server) update(n int) error {
	for n > 0 {
		s.writes++
		for pod := range apitest.Pods(min(n, s.pods), apitest.PodOptions{}) {
			pod.Status.ContainerStatuses[0].RestartCount = int32(s.writes)
			apitest.RestartContainer(pod)
			if _, err := s.Update(pod); err != nil {
				return err
			}
			n--
		}
	}
	return nil
}

// advance writes an object that is not a pod, so that the server's version rises. It returns the
// version.
func (s *server) advance() (version string, err error) {
	s.writes++
	_, err = s.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: fmt.Sprint("advance-", s.writes)}})
	return s.ResourceVersion(), err
}

// expire makes the only watching client list again: it breaks the watch, and compacts the events
// after the client's version.
func (s *server) expire() error {
	if err := eventually("no client watches", func() bool { return s.Watches("pods") > 0 }); err != nil {
		return err
	}
	s.Compact()
	s.DropWatches("pods")
	return nil
}

// eventually waits until a condition holds, for half a minute at most.
func eventually(message string, is func() bool) error {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if is() {
			return nil
		}
	}
	return errors.New(message)
}
