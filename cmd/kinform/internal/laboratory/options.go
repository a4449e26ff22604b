package laboratory

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"

	"github.com/kinform/kinform/view/lab"
)

// Options are how a laboratory begins, as flags say it.
type Options struct{ options lab.Options }

// AddFlags adds the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.options.Pods, "pods", 20, "pods at the beginning")
	flags.IntVar(&o.options.Rate, "rate", 0, "creates, updates and deletes of pods a second, at the beginning")
	flags.IntVar(&o.options.Workers, "workers", 4, "workers at the beginning")
	flags.IntVar(&o.options.Window, "window", 10_000, "how many past changes the API server remembers; most of the memory is theirs")
	flags.StringVar(&o.options.Listen, "listen", "", "a loopback address at which the API server listens as well, for kubectl")
}

// New makes the laboratory, and starts nothing.
func (o Options) New() (*lab.Lab, error) {
	opts := o.options
	if opts.Pods == 0 {
		opts.Pods = -1
	}
	if opts.Window < 1 {
		return nil, errors.New("--window must be at least 1")
	}
	opts.View.IndexValues = true // They are of its own pods.
	if opts.Listen != "" {
		host, _, err := net.SplitHostPort(opts.Listen)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, fmt.Errorf("--listen: %q is no address on loopback, such as 127.0.0.1:8001: the server asks for no credentials", opts.Listen)
		}
	}
	return lab.New(opts)
}
