package sources

import "errors"

// errGoexit is the error of a source that ended its goroutine.
var errGoexit = errors.New("sources: a source called runtime.Goexit, which ended a goroutine: in tests, call FailNow of package testing only in the test's own goroutine")

// toldAnyway calls the function do. If do does not return, toldAnyway calls the function tell with
// an error. A source that this function calls may call runtime.Goexit while another goroutine waits
// for the result.
func toldAnyway(do func(), tell func(error)) {
	returned := false
	defer func() {
		if !returned {
			tell(errGoexit)
		}
	}()
	do()
	returned = true
}
