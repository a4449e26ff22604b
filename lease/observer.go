package lease

import (
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// Observer is a set of hooks into an Elector. Each may be nil. Hooks are called with no lock held,
// one at a time. A hook delays the election until it returns: if the hook takes longer than
// RenewDeadline, the lease is lost. A panic of a hook is logged, and the election goes on.
type Observer struct {
	// OnLeader is called when the holder of the lease changes, also when this candidate becomes the
	// holder. holder is "" when the lease is free.
	OnLeader func(holder string)

	// OnLead is called when this candidate leads, just before the function.
	OnLead func(Term)

	// OnLost is called when the leader's context has ended with this *LostError. The
	// function may still run.
	OnLost func(Term, error)

	// OnEnd is called when the function has returned, with its error.
	OnEnd func(Term, error)

	// OnAttempt is called after each attempt to read, take, renew or release the lease. The attempt
	// failed if err is not nil.
	OnAttempt func(took time.Duration, err error)
}

// contained returns a copy whose hooks do not panic.
func (o *Observer) contained(h *contain.Hooks) *Observer {
	if o == nil {
		return nil
	}
	own := *o
	own.OnLeader = contain.Hook(h, "Observer.OnLeader", o.OnLeader)
	own.OnLead = contain.Hook(h, "Observer.OnLead", o.OnLead)
	own.OnLost = contain.Hook2(h, "Observer.OnLost", o.OnLost)
	own.OnEnd = contain.Hook2(h, "Observer.OnEnd", o.OnEnd)
	own.OnAttempt = contain.Hook2(h, "Observer.OnAttempt", o.OnAttempt)
	return &own
}

// The methods below call a hook if it is set; a nil Observer has no hooks.

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
