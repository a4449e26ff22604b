// Package leaderelection elects one of several processes to lead.
//
// The one that leads renews a record in a lock. The others take the lock when they have seen no change of the record
// for as long as its duration says, by their own clocks: no clocks are compared. Where a clock runs much faster than
// another, two processes may lead at a time, so the lock is no fence around what the leader writes.
//
// github.com/kinform/kinform/lease is an election on leases alone, which waits for the function that leads and
// calls it again. This package has client-go's contract, in which locks are the program's own and callbacks are not
// waited for, so it is one of its own.
package leaderelection

import (
	"context"
	"errors"
	"time"

	rl "k8s.io/client-go/tools/leaderelection/resourcelock"
)

// JitterFactor is how much longer than RetryPeriod a candidate waits at most, in units of RetryPeriod.
const JitterFactor = 1.2

// LeaderElectionConfig says how an election works. Lock, the durations and two of the callbacks are required.
type LeaderElectionConfig struct {
	// Lock is what the candidates write their names into.
	Lock rl.Interface

	// LeaseDuration is how long the other candidates wait for a renewal, since they saw the last one, before they
	// take the lock. Usually 15 s.
	LeaseDuration time.Duration

	// RenewDeadline is how long a leader tries to renew before it gives up. It must be shorter than LeaseDuration.
	// Usually 10 s.
	RenewDeadline time.Duration

	// RetryPeriod is how long to wait between tries. JitterFactor times as long must be shorter than RenewDeadline.
	// Usually 2 s.
	RetryPeriod time.Duration

	// Callbacks are called when this candidate leads, or another does.
	Callbacks LeaderCallbacks

	// WatchDog is tied to the election by RunOrDie. Defaults to nil: none.
	WatchDog *HealthzAdaptor

	// ReleaseOnCancel gives the lock back when Run ends, so that another candidate needs not wait. What the lock
	// guards must have ended when the context of Run ends.
	ReleaseOnCancel bool

	// Name is the name in the metrics.
	Name string

	// Coordinated leaves the choice of the leader to the control plane: this candidate only renews what it was
	// given. See NewCandidate.
	Coordinated bool
}

// LeaderCallbacks are called by an election. None is waited for, but OnStoppedLeading.
type LeaderCallbacks struct {
	// OnStartedLeading is called in a goroutine of its own when this candidate leads. The context ends when it does
	// not any more.
	OnStartedLeading func(context.Context)
	// OnStoppedLeading is called before Run returns, also if this candidate has never led.
	OnStoppedLeading func()
	// OnNewLeader is called in a goroutine of its own with the name of each new leader, this candidate included.
	// Defaults to nil: nothing is called.
	OnNewLeader func(identity string)
}

// validate says what is wrong with the config.
func (c *LeaderElectionConfig) validate() error {
	for _, rule := range []struct {
		broken bool
		text   string
	}{
		{c.LeaseDuration <= c.RenewDeadline, "leaseDuration must be greater than renewDeadline"},
		{c.RenewDeadline <= time.Duration(JitterFactor*float64(c.RetryPeriod)), "renewDeadline must be greater than retryPeriod*JitterFactor"},
		{c.LeaseDuration < 1, "leaseDuration must be greater than zero"},
		{c.RenewDeadline < 1, "renewDeadline must be greater than zero"},
		{c.RetryPeriod < 1, "retryPeriod must be greater than zero"},
		{c.Callbacks.OnStartedLeading == nil, "OnStartedLeading callback must not be nil"},
		{c.Callbacks.OnStoppedLeading == nil, "OnStoppedLeading callback must not be nil"},
		{c.Lock == nil, "Lock must not be nil."},
	} {
		if rule.broken {
			return errors.New(rule.text)
		}
	}
	if c.Lock.Identity() == "" {
		//lint:ignore ST1005 it begins with the name of a field
		return errors.New("Lock identity is empty")
	}
	return nil
}
