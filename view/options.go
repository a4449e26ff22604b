package view

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// Options are the options of a [View]. With the zero value, everyone on this machine has read
// access, other machines have no access, and nothing can be changed.
type Options struct {
	// Title is the name of the program on the page. Defaults to "kinform".
	Title string

	// FrameInterval is the time between two frames. At least 20 milliseconds; defaults to a tenth
	// of a second.
	FrameInterval time.Duration

	// MaxViewers is the maximum number of simultaneous streams. When one more stream opens, the
	// oldest stream that has neither the token nor a session ends. If every stream has the token or
	// a session, the new request gets 503. The program's own Record and Frames do not count.
	// Defaults to 16.
	MaxViewers int

	// Remote gives read access to other machines. By default, a request from an address that is not
	// loopback is refused. Protect this page like the program's other pages.
	Remote bool

	// Hosts are the host names of the page, besides localhost and any IP address. A request for
	// another name is refused. Otherwise an attacker could point a name of their own to this
	// address (DNS rebinding).
	Hosts []string

	// Token is the secret that a request needs to change something: see [Laboratory]. Defaults to a
	// random token, which [View.Token] returns.
	Token string

	// Private makes the token necessary for read access too, because names of objects may be
	// confidential.
	Private bool

	// IndexValues lets the page show the values of indexes, and the objects with a value. Values
	// come from the program's index functions, so they may be secret. Defaults to false: the page
	// shows only the number of values.
	IndexValues bool

	// Values lets the page show the beginnings of field values when it compares a stored object
	// with the object on the server. The environment of a pod may contain secrets. Defaults to
	// false: the page shows names and sizes of fields. It never shows values of Secrets, or of
	// objects of unknown kind.
	Values bool

	// Recording is the recording that the page opens first, as [View.Record] writes it. It is not
	// copied and must not be changed. Defaults to nil: the page shows the running pipelines.
	Recording []byte

	// Laboratory lets the page change the program. Defaults to nil: the page cannot change
	// anything.
	Laboratory Laboratory

	// Logger logs a second use of a [View.Address]. Defaults to slog.Default().
	Logger *slog.Logger

	// Server returns the state of the API server, if the program knows it. It is called once for
	// each frame. Defaults to nil: the page shows what informers have received.
	Server func() Server
}

// Server is the state of an API server, for a program that runs the server in its process.
type Server struct {
	// ResourceVersion is the version of the newest write. Oldest is the oldest version from which a
	// watch can still start. Unknown versions are "".
	ResourceVersion, Oldest string

	// Objects is the number of objects of the shown resource, or negative if it is not known.
	Objects int
}

func (o Options) withDefaults() (Options, error) {
	var errs []error
	if o.Title == "" {
		o.Title = "kinform"
	}
	if o.FrameInterval == 0 {
		o.FrameInterval = 100 * time.Millisecond
	}
	if o.FrameInterval < 20*time.Millisecond {
		errs = append(errs, fmt.Errorf("the time between frames (Every) is %v: it must be at least 20ms", o.FrameInterval))
	}
	if o.MaxViewers == 0 {
		o.MaxViewers = 16
	}
	if o.MaxViewers < 0 {
		errs = append(errs, fmt.Errorf("the number of viewers (MaxViewers) is %d: it must not be negative", o.MaxViewers))
	}
	if o.Token == "" {
		o.Token = rand.Text()
	}
	o.Logger = contain.Logger(o.Logger)
	if len(o.Token) < 16 {
		errs = append(errs, errors.New("the token must have at least 16 characters"))
	}
	if o.Recording != nil {
		if err := checkRecording(o.Recording); err != nil {
			errs = append(errs, err)
		}
	}
	if errs != nil {
		return o, fmt.Errorf("view: Options: %w", errors.Join(errs...))
	}
	return o, nil
}
