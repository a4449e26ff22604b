package httpstreams

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/streaming/pkg/httpstream"
)

// UpgradeFailure returns the error for an upgrade request to which the server has responded without
// upgrading.
//
// IsUpgradeFailure of both packages named httpstream recognizes it. client-go v0.37 returns an
// error that apimachinery's IsUpgradeFailure does not recognize. A program that was written for an
// older client-go calls apimachinery's function, and with client-go v0.37 no longer uses its
// fallback.
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

// Unwrap returns both errors and their cause. It returns the cause too, because neither error
// unwraps to it.
func (e *upgradeFailure) Unwrap() []error { return []error{e.newer, e.older, e.newer.Cause} }
