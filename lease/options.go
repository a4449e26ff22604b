package lease

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kinform/kinform/internal/contain"
)

// Options configures an Elector. The zero value works.
type Options struct {
	// Identity is the name of this candidate in the Lease. No other candidate may have the same
	// identity, in this process or in another. If the Lease has this identity, but this Elector did
	// not write it, the Elector treats the Lease as another candidate's. Defaults to the name of
	// the host and a random part.
	Identity string

	// LeaseDuration is how long other candidates wait before they take the lease. A candidate
	// counts by its own clock, from the moment at which it saw the last renewal. LeaseDuration is
	// in whole seconds, as in the Lease. Defaults to 15 seconds.
	LeaseDuration time.Duration

	// RenewDeadline is how long the leader leads after it sent its last successful renewal, by its
	// own clock. The rest of LeaseDuration allows for functions that end slowly, and for clocks of
	// different rates: up to LeaseDuration / RenewDeadline. The rest should be more than a second
	// if there are candidates on client-go: client-go compares times in whole seconds, and so may
	// not see the last renewal. Defaults to two thirds of LeaseDuration, which is 10 seconds.
	RenewDeadline time.Duration

	// RetryPeriod is the time between renewals, and between two reads of a candidate. Up to a fifth
	// is added at random. With that fifth, RetryPeriod must be less than RenewDeadline. Defaults to
	// two fifteenths of LeaseDuration, which is 2 seconds.
	RetryPeriod time.Duration

	// Watch makes a candidate watch the Lease in addition, so that it notices a release at once,
	// without waiting for its next read. A watch costs a connection, or one stream of a connection.
	// It needs the permission to watch the Lease, which may be limited to its name. If the watch is
	// refused or breaks, that is logged. The candidate then reads the Lease as without a watch, and
	// retries the watch within a minute. A watch only affects when the candidate reads, so no
	// guarantee depends on it. Defaults to false.
	Watch bool

	// StandAgain makes Run stand for election again after the lease was lost, instead of returning
	// a [*LostError]. The function must support several calls: it should make new informers and
	// queues in each call. Defaults to false.
	StandAgain bool

	// KeepOnEnd keeps the lease when the function has returned, so that other candidates wait as if
	// the process had been killed. Defaults to false: Run releases the lease, and the next
	// candidate takes it as soon as it reads the Lease.
	KeepOnEnd bool

	// Labels are set on the Lease when it is created or taken. Defaults to none.
	Labels map[string]string

	// Observer has hooks that the Elector calls at each step. Defaults to nil.
	Observer *Observer

	// Logger receives each change of the leader, and failed attempts: when attempts begin to fail,
	// and every five minutes while they fail. Defaults to the value of slog.Default() at New.
	// slog.New(slog.DiscardHandler) logs nothing.
	Logger *slog.Logger
}

// withDefaults returns the options with their defaults.
func (o Options) withDefaults() (Options, error) {
	o.LeaseDuration = cmp.Or(o.LeaseDuration, 15*time.Second)
	o.RenewDeadline = cmp.Or(o.RenewDeadline, o.LeaseDuration/3*2)
	o.RetryPeriod = cmp.Or(o.RetryPeriod, o.LeaseDuration/15*2)
	o.Labels = maps.Clone(o.Labels)
	o.Logger = contain.Logger(o.Logger)
	if o.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("lease: Options.Identity is empty, and its default needs the name of the host: set it: %w", err)
		}
		o.Identity = host + "_" + rand.Text()
	}
	return o, nil
}

// validate returns an error about an invalid key or option; defaults must be set already.
func (o *Options) validate(key types.NamespacedName) error {
	if wrong := validation.IsDNS1123Label(key.Namespace); len(wrong) > 0 {
		return fmt.Errorf("lease: the namespace of the Lease is %q: %s", key.Namespace, wrong[0])
	}
	if wrong := validation.IsDNS1123Subdomain(key.Name); len(wrong) > 0 {
		return fmt.Errorf("lease: the name of the Lease is %q: %s", key.Name, wrong[0])
	}
	switch {
	case !utf8.ValidString(o.Identity):
		return fmt.Errorf("lease %s: Options.Identity is %q, which is not UTF-8", key, o.Identity)
	case o.LeaseDuration < time.Second || o.LeaseDuration%time.Second != 0 || o.LeaseDuration/time.Second > math.MaxInt32:
		return fmt.Errorf("lease %s: Options.LeaseDuration is %v: a Lease has whole seconds, from 1s to %ds", key, o.LeaseDuration, math.MaxInt32)
	case o.RenewDeadline < 0 || o.RenewDeadline >= o.LeaseDuration:
		return fmt.Errorf("lease %s: Options.RenewDeadline is %v: it must be less than LeaseDuration, %v, so that the leader ends before others begin", key, o.RenewDeadline, o.LeaseDuration)
	case o.RetryPeriod < 0 || jittered(o.RetryPeriod) >= o.RenewDeadline:
		return fmt.Errorf("lease %s: Options.RetryPeriod is %v: 1.2 times this period must be less than RenewDeadline, %v, so that there is time for a renewal", key, o.RetryPeriod, o.RenewDeadline)
	}
	for name, value := range o.Labels {
		if wrong := append(validation.IsQualifiedName(name), validation.IsValidLabelValue(value)...); len(wrong) > 0 {
			return fmt.Errorf("lease %s: Options.Labels: %q: %q: %s", key, name, value, wrong[0])
		}
	}
	return nil
}

// jittered returns a period with its longest random addition.
func jittered(period time.Duration) time.Duration { return period + period/5 }
