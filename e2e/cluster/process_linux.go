package cluster

import "syscall"

// childAttributes let the kernel kill a child when its parent dies, however
// that happens, and keep an interrupt from the keyboard away from it, so that
// the tests can end in order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
