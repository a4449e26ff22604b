package sources

import "errors"

// errGoexit is the error of a source that ended its goroutine.
var errGoexit = errors.New("sources: a source called runtime.Goexit, which ended a goroutine; testing's FailNow does so: call it in the test's own goroutine only")

// toldAnyway calls do, and calls tell with an error if do does not return. A source that do calls
// may end the goroutine, while another goroutine waits for the result.
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
