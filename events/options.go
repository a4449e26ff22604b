package events

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kinform/kinform/internal/contain"
)

// Options configures a Recorder. The zero value works.
type Options struct {
	// Instance is the name of this process in Events, at most 128 bytes. Defaults to the last part
	// of the controller's name and the name of the host.
	Instance string

	// CoreV1 sends Events of core/v1, with count and lastTimestamp, as tools/record of client-go
	// does. By default the Events are of events.k8s.io/v1. Servers have this API since Kubernetes
	// 1.19, and show its Events in core/v1 as well.
	CoreV1 bool

	// MaxSeries is the maximum number of different events that the Recorder remembers, including
	// waiting ones. If all of these events are waiting, the Recorder drops other events. Defaults
	// to 4,096, which takes some 5 MB with long notes.
	MaxSeries int

	// Burst is how many Events about one object may be created at once, and Interval is the time
	// after which one more may be created. Burst defaults to 25, and Interval to 5 minutes.
	Burst    int
	Interval time.Duration

	// RequestTimeout is the time limit of one request, including the client's retries. Defaults to
	// 10 seconds.
	RequestTimeout time.Duration

	// FlushTimeout is how long Run continues to send after its context has ended. Defaults to 5
	// seconds.
	FlushTimeout time.Duration

	// Observer has hooks that Run calls after requests and drops. Defaults to nil.
	Observer *Observer

	// Logger receives dropped events, and failures: when they begin, and every five minutes while
	// they last. Only Run calls it. Defaults to the value of slog.Default() at New.
	// slog.New(slog.DiscardHandler) logs nothing.
	Logger *slog.Logger
}

// withDefaults returns the options with their defaults.
func (o Options) withDefaults(controller string) (Options, error) {
	o.MaxSeries = cmp.Or(o.MaxSeries, 4096)
	o.Burst = cmp.Or(o.Burst, 25)
	o.Interval = cmp.Or(o.Interval, 5*time.Minute)
	o.RequestTimeout = cmp.Or(o.RequestTimeout, 10*time.Second)
	o.FlushTimeout = cmp.Or(o.FlushTimeout, 5*time.Second)
	o.Logger = contain.Logger(o.Logger)
	if o.Instance == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("events: Options.Instance is empty, and its default needs the name of the host: set it: %w", err)
		}
		name := controller[strings.LastIndexByte(controller, '/')+1:]
		o.Instance = truncate(name+"-"+strings.ToValidUTF8(host, "-"), maxFieldLength)
	}
	return o, nil
}

// validate returns an error about an invalid controller name or option; defaults must be set
// already.
func (o *Options) validate(controller string) error {
	if wrong := validation.IsQualifiedName(controller); len(wrong) > 0 {
		return fmt.Errorf("events: the controller name %q is invalid: use a name like \"example.com/websites\": %s", controller, wrong[0])
	}
	switch {
	case len(o.Instance) > maxFieldLength || !utf8.ValidString(o.Instance):
		return fmt.Errorf("events: Options.Instance has %d bytes: it must be UTF-8 of at most %d", len(o.Instance), maxFieldLength)
	case o.MaxSeries < 0:
		return fmt.Errorf("events: Options.MaxSeries is %d: it must not be negative", o.MaxSeries)
	case o.Burst < 0 || o.Interval < 0:
		return fmt.Errorf("events: Options.Burst is %d and Interval is %v: they must not be negative", o.Burst, o.Interval)
	case o.RequestTimeout < 0 || o.FlushTimeout < 0:
		return fmt.Errorf("events: Options.RequestTimeout is %v and FlushTimeout is %v: they must not be negative", o.RequestTimeout, o.FlushTimeout)
	}
	return nil
}
