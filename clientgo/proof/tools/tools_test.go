// Package tools compares clientgo's tools, utils and transport with client-go's. Both run the same
// operations with real servers and files, and must have the same results.
package tools_test

import (
	"testing"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

const (
	reasonCountAfterEvent = "a count is written after its event; client-go writes the count first, does not find the event, and creates another event"
	reasonWrappedError    = "a server's error is recognized even if a sink has wrapped it; client-go retries twelve times"
)

// differences maps each case whose result differs from client-go's to the reason.
var differences = map[string]string{
	"events to a sink with errors: another object":          reasonCountAfterEvent,
	"events to a sink with errors: canceled":                reasonCountAfterEvent,
	"events to a sink with errors: plain":                   reasonCountAfterEvent,
	"events to a sink with errors: wrapped not found":       reasonWrappedError,
	"events with a sink that fails:  a status":              reasonCountAfterEvent,
	"events with a sink that fails:  another kind":          reasonCountAfterEvent,
	"events with a sink that fails:  cut":                   reasonCountAfterEvent,
	"events with a sink that fails:  empty":                 reasonCountAfterEvent,
	"events with a sink that fails:  malformed":             reasonCountAfterEvent,
	"events with a sink that fails: POST a status":          reasonCountAfterEvent,
	"events with a sink that fails: POST another kind":      reasonCountAfterEvent,
	"events with a sink that fails: POST cut":               reasonCountAfterEvent,
	"events with a sink that fails: POST empty":             reasonCountAfterEvent,
	"events with a sink that fails: POST malformed":         reasonCountAfterEvent,
	"record to a sink with errors: wrapped cannot be built": reasonWrappedError,
	"record to a sink with errors: wrapped forbidden":       reasonWrappedError,
	"record to a sink with errors: wrapped not found":       reasonWrappedError,
	"record: names and types":                               reasonWrappedError,
	"correlator: one event, empty":                          "an event about an object without a name has a name that servers accept",
	"election: metrics":                                     "the metric is also set to not leading when the context has ended the lead",
	"locks: an event before there is a lease":               "client-go panics",
	"pager: each item with a version":                       "a continue token is sent without a version, because servers reject a request with both",
	"pager: nil list, pages of 3":                           "both panic; here the error reports the panic, and in client-go this depends on which of two goroutines is first",
	"retry watcher: wrapped forbidden":                      "before the watch ends, an Error event has the reason",
	"until: wrapped forbidden":                              "as above",
	"informer watcher":                                      "the channel is closed after the watch is stopped, as the interface requires",
	"mutation cache: adds true":                             "client-go panics if a version is not a number",
	"parallelize: {-1 3 1}":                                 "client-go panics",
	"parallelize: {2 -1 1}":                                 "client-go panics",
	`managers: broken server, subresource "", of [ssa]`:     "fields are parsed only if there is something to upgrade",
	"keys: parse PEM of pkcs8 ecdsa":                        "the public key of an ECDSA key in PKCS #8 is returned, as for an RSA key",
	"certificate requests: no v1, all":                      "the duration is also requested in v1beta1, which has this field",
	"transport: wrapped round trippers":                     "CancelRequest is obsolete, because a request ends with its context",
}

func TestToolsBehaveLikeClientGo(t *testing.T) { sides.Compare(t, 1500, differences) }
