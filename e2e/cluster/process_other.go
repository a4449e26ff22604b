//go:build !linux

package cluster

import "syscall"

// childAttributes is nil: only Linux can tie a child's life to its parent's.
func childAttributes() *syscall.SysProcAttr { return nil }
