package sources

import "errors"

// errGoexit is the error of a source that ended its goroutine.
var errGoexit = errors.New("sources: a source called runtime.Goexit, which ended a goroutine: in tests, call FailNow of package testing only in the test's own goroutine")

// reportGoexit calls the function do. If do does not return, reportGoexit calls the function report
// with an error. Without this, another goroutine could wait for ever for the result of a source
// that called runtime.Goexit.
func reportGoexit(do func(), report func(error)) {
	returned := false
	defer func() {
		if !returned {
			report(errGoexit)
		}
	}()
	do()
	returned = true
}
