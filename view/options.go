package view

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// Options are the choices of a [View]. The zero value is ready to use: everybody on this machine may
// look, and nobody else; and nothing can be changed.
type Options struct {
	// Title is what the page calls the program. Defaults to "kinform".
	Title string

	// Every is the time between two frames. At least 20 milliseconds; defaults to a tenth of a second.
	Every time.Duration

	// MaxViewers is how many streams of frames there are at the same time. For one more, the oldest stream of a viewer without the token or a
	// session ends; when there is none, the new one is answered with 503. The program's own Record and Frames do not count. Defaults
	// to 16.
	MaxViewers int

	// Remote lets other machines look. Without it, a request from an address that is not loopback is
	// refused. What guards other pages about the program should guard this one.
	Remote bool

	// Hosts are the names under which the page is reached, besides localhost and any IP address.
	// A request for another name is refused: a page of somebody else could have had that name
	// lead here (DNS rebinding).
	Hosts []string

	// Token is a secret that a request has to have that changes something: see [Laboratory].
	// Defaults to a random one; [View.Token] returns it.
	Token string

	// Private asks for the token from everybody who looks, because names of objects are for few.
	Private bool

	// IndexValues lets the page show the values of indexes, and which objects have them. Values are what a
	// program's index functions make of objects, so they may be secrets. Defaults to false: the page shows how many there
	// are.
	IndexValues bool

	// Values lets the page show the beginnings of the values of an object's fields, in the picture that compares what the server
	// and the store have of it. A pod's environment may have secrets in it. Defaults to false: the page shows the names of
	// fields, and bytes. Of Secrets, and of objects that do not say of which kind they are, it never shows values.
	Values bool

	// Recording is what the page opens at first, as [View.Record] has written it. It is not copied, and not to be
	// changed. Defaults to nil: the page shows what runs.
	Recording []byte

	// Laboratory is what the page may do to the program. Defaults to nil: nothing.
	Laboratory Laboratory

	// Logger is told when an address of [View.Address] is opened a second time. Defaults to slog.Default().
	Logger *slog.Logger

	// Server says how far the API server is, where the program knows. It is called once for each frame.
	// Defaults to nil: the page shows what informers were told.
	Server func() Server
}

// Server is the state of an API server, as one who has it in the process knows it.
type Server struct {
	// ResourceVersion is that of the newest write, and Oldest that of the oldest one which a watch
	// can still start after; "" if it is not known.
	ResourceVersion, Oldest string

	// Objects is how many objects it has, of the resource that is shown. Negative if it is not known.
	Objects int
}

func (o Options) withDefaults() (Options, error) {
	var errs []error
	if o.Title == "" {
		o.Title = "kinform"
	}
	if o.Every == 0 {
		o.Every = 100 * time.Millisecond
	}
	if o.Every < 20*time.Millisecond {
		errs = append(errs, fmt.Errorf("the time between frames (Every) is %v, and must be at least 20ms", o.Every))
	}
	if o.MaxViewers == 0 {
		o.MaxViewers = 16
	}
	if o.MaxViewers < 0 {
		errs = append(errs, fmt.Errorf("the number of viewers (MaxViewers) is %d, and must not be negative", o.MaxViewers))
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
