package record_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

func TestARequestThatCannotBeBuiltIsNotRetried(t *testing.T) {
	s := &sink{fail: func(string) error { return &rest.RequestConstructionError{Err: errors.New("no name")} }}
	withBroadcaster(t, s, func(b record.EventBroadcaster, r record.EventRecorder) {
		r.Event(pod, "Normal", "R", "m")
		time.Sleep(10 * time.Minute)
		require.Len(t, s.taken(), 1)
	})
}
