package record_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// sink records the requests.
type sink struct {
	fail func(op string) error // nil: no request fails

	mu    sync.Mutex // guards following
	calls []string
	times []time.Time
}

func (s *sink) Create(e *v1.Event) (*v1.Event, error) { return s.do("create", e, "") }
func (s *sink) Update(*v1.Event) (*v1.Event, error)   { return nil, errors.New("Update is not called") }
func (s *sink) Patch(e *v1.Event, data []byte) (*v1.Event, error) {
	return s.do("patch", e, string(data))
}

func (s *sink) do(op string, e *v1.Event, data string) (*v1.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf("%s %s/%s %d %q at %q", op, e.Namespace, e.InvolvedObject.Name, e.Count, e.Message, e.ResourceVersion))
	s.times = append(s.times, time.Now())
	if s.fail != nil {
		if err := s.fail(op); err != nil {
			return nil, err
		}
	}
	written := e.DeepCopy()
	written.ResourceVersion = fmt.Sprint(len(s.calls))
	return written, nil
}

func (s *sink) taken() (calls []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, s.calls = s.calls, nil
	return calls
}

var (
	pod    = &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "u", ResourceVersion: "3"}}
	node   = &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	source = v1.EventSource{Component: "c", Host: "h"}
)

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = v1.AddToScheme(s)
	return s
}

func recorderTo(b record.EventBroadcaster) record.EventRecorder {
	return b.NewRecorder(scheme(), source)
}
