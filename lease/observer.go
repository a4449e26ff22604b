package lease

import "time"

// Observer is a set of hooks into an Elector. Each may be nil. They are called without a
// lock, one at a time, and what they do delays the election: a hook that
// takes longer than RenewDeadline costs the lease.
type Observer struct {
	// OnLeader: another leads than was known, this candidate included. holder is "" when
	// the lease is free.
	OnLeader func(holder string)

	// OnLead: this candidate leads. The function is called next.
	OnLead func(Term)

	// OnLost: the leader's context has ended because of this *LostError. The function may
	// still run.
	OnLost func(Term, error)

	// OnEnd: the function has returned with this error.
	OnEnd func(Term, error)

	// OnAttempt: the lease was looked at, taken, renewed or released, which took so long
	// and failed if err is not nil.
	OnAttempt func(took time.Duration, err error)
}

// The methods below call a hook if there is one; a nil Observer has none.

func (o *Observer) leader(holder string) {
	if o != nil && o.OnLeader != nil {
		o.OnLeader(holder)
	}
}

func (o *Observer) lead(t Term) {
	if o != nil && o.OnLead != nil {
		o.OnLead(t)
	}
}

func (o *Observer) lost(t Term, err error) {
	if o != nil && o.OnLost != nil {
		o.OnLost(t, err)
	}
}

func (o *Observer) ended(t Term, err error) {
	if o != nil && o.OnEnd != nil {
		o.OnEnd(t, err)
	}
}

func (o *Observer) attempted(took time.Duration, err error) {
	if o != nil && o.OnAttempt != nil {
		o.OnAttempt(took, err)
	}
}
