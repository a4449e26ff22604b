package informer

import (
	"time"

	"github.com/kinform/kinform/reflector"
)

// failureRow is the failures of a part in a row.
type failureRow struct {
	reflector.Row
	next time.Time // when it is worth while to try again
}

// failed counts one more, and says when to try again.
func (r *failureRow) failed(err error, backoff reflector.Backoff) {
	r.next = time.Now().Add(r.Failed(err, backoff))
}
