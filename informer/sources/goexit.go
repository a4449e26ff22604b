package sources

import "errors"

// errGoexit is the error of a source that does not return.
var errGoexit = errors.New("sources: a source called runtime.Goexit, which ended a goroutine; testing's FailNow does so: call it in the test's own goroutine only")

// toldAnyway calls do, and tell with an error if do does not return: a source that do calls
// may end the goroutine, for which another one waits.
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
