package cluster

import "syscall"

// childAttributes makes the kernel kill a child when its parent dies for any reason. It also keeps
// a keyboard interrupt from the child, so that the tests can end in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
