package laboratory

import (
	"fmt"
	"math"
	"net"

	"github.com/spf13/pflag"

	"github.com/kinform/kinform/view/lab"
)

// Options are the settings of a laboratory, as flags.
type Options struct{ options lab.Options }

// AddFlags adds the flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.options.Pods, "pods", 20, "pods at the beginning")
	flags.IntVar(&o.options.Rate, "rate", 0, fmt.Sprintf("creates, updates and deletes of pods a second, at the beginning; at most %d", maxRate))
	flags.IntVar(&o.options.Workers, "workers", 4, fmt.Sprintf("workers at the beginning; at most %d", maxWorkers))
	flags.IntVar(&o.options.Window, "window", 10_000, "how many past changes the API server keeps; these changes take most of the memory")
	flags.StringVar(&o.options.Listen, "listen", "", "a loopback address at which the API server also listens, for kubectl")
}

// These are the largest values that a laboratory accepts.
const (
	maxRate    = 5000
	maxWorkers = 16
)

// check returns an error for an invalid number. The error names the flag. The laboratory's own
// errors name Go fields, and some numbers mean a default there.
func (o Options) check() error {
	for _, flag := range []struct {
		name        string
		is          int
		least, most int
	}{
		{"--pods", o.options.Pods, 0, math.MaxInt},
		{"--rate", o.options.Rate, 0, maxRate},
		{"--workers", o.options.Workers, 1, maxWorkers},
		{"--window", o.options.Window, 1, math.MaxInt},
	} {
		switch {
		case flag.is >= flag.least && flag.is <= flag.most:
		case flag.most == math.MaxInt:
			return fmt.Errorf("%s is %d: it must be at least %d", flag.name, flag.is, flag.least)
		default:
			return fmt.Errorf("%s is %d: it must be from %d to %d", flag.name, flag.is, flag.least, flag.most)
		}
	}
	return nil
}

// New makes the laboratory. It starts nothing.
func (o Options) New() (*lab.Lab, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	opts := o.options
	if opts.Pods == 0 {
		opts.Pods = -1 // 0 would mean the default
	}
	opts.View.IndexValues = true // The values come from synthetic pods.
	if opts.Listen != "" {
		host, _, err := net.SplitHostPort(opts.Listen)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, fmt.Errorf("--listen: %q is not an address on loopback, such as 127.0.0.1:8001: the server has no authentication", opts.Listen)
		}
	}
	return lab.New(opts)
}
