// Package leaderelection elects one of several processes to lead.
//
// The leader renews a record in a lock. Another process takes the lock if the record has not
// changed for the lease duration. Each process measures this time with its own clock; times of
// different clocks are not compared. If one clock runs much faster than another, two processes may
// lead at once. So the lock does not fence the leader's writes.
//
// The package does not use github.com/kinform/kinform/lease, which supports only leases, waits for
// the function that leads, and calls it again. By client-go's contract, a program may have its own
// type of lock, and Run does not wait for OnStartedLeading.
package leaderelection

import (
	"context"
	"errors"
	"time"

	rl "k8s.io/client-go/tools/leaderelection/resourcelock"
)

// JitterFactor bounds the wait of a candidate: at most RetryPeriod times (1 + JitterFactor).
const JitterFactor = 1.2

// LeaderElectionConfig is the configuration of an election. Lock, the durations, OnStartedLeading
// and OnStoppedLeading are required.
type LeaderElectionConfig struct {
	// Lock holds the record with the leader's name.
	Lock rl.Interface

	// LeaseDuration is the time after which other candidates take the lock, measured from the last
	// renewal that they saw. Usually 15 s.
	LeaseDuration time.Duration

	// RenewDeadline is how long a leader retries a renewal before it stops leading. It must be
	// shorter than LeaseDuration. Usually 10 s.
	RenewDeadline time.Duration

	// RetryPeriod is the wait between attempts. JitterFactor times RetryPeriod must be shorter than
	// RenewDeadline. Usually 2 s.
	RetryPeriod time.Duration

	// Callbacks are called when the leader changes.
	Callbacks LeaderCallbacks

	// WatchDog is a health check that RunOrDie connects to the election. Defaults to nil: no check.
	WatchDog *HealthzAdaptor

	// ReleaseOnCancel makes Run release the lock at its end, so that the next candidate need not
	// wait. The work that the lock guards must have ended before the context of Run ends.
	ReleaseOnCancel bool

	// Name is the name of the election in metrics.
	Name string

	// Coordinated leaves the choice of the leader to the control plane. This candidate only renews
	// a lock that the control plane has given to it. See NewCandidate.
	Coordinated bool
}

// LeaderCallbacks are called by an election. Run waits only for OnStoppedLeading.
type LeaderCallbacks struct {
	// OnStartedLeading is called in its own goroutine when this candidate becomes the leader. The
	// context ends when this candidate stops leading.
	OnStartedLeading func(context.Context)
	// OnStoppedLeading is called before Run returns, even if this candidate has never led.
	OnStoppedLeading func()
	// OnNewLeader is called in its own goroutine with the name of each new leader, including this
	// candidate. Defaults to nil: no call.
	OnNewLeader func(identity string)
}

// validate returns the first mistake in the config.
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
