package httpstreams

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/streaming/pkg/httpstream"
)

// UpgradeFailure returns the error of a server that has answered a request for an upgrade and did not upgrade.
//
// IsUpgradeFailure of both families recognises it. client-go v0.37 returns k8s.io/streaming's own error, which apimachinery's
// IsUpgradeFailure does not recognise: a program that was written for an older client-go and asks that one would no longer fall back.
func UpgradeFailure(cause error) error {
	return &upgradeFailure{
		newer: &httpstream.UpgradeFailureError{Cause: cause},
		older: &older.UpgradeFailureError{Cause: cause},
	}
}

type upgradeFailure struct {
	newer *httpstream.UpgradeFailureError
	older *older.UpgradeFailureError
}

func (e *upgradeFailure) Error() string { return e.newer.Error() }

// Unwrap returns both errors, and their cause, which neither of them unwraps to.
func (e *upgradeFailure) Unwrap() []error { return []error{e.newer, e.older, e.newer.Cause} }
