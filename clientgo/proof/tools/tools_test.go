// Package tools compares clientgo's tools, utils and transport with client-go's. Both run the same
// operations with real servers and files, and must have the same results.
package tools_test

import (
	"testing"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

const (
	reasonCountAfterEvent = "a count is written after its event: client-go writes the count before, finds no event, and creates another one"
	reasonWrappedError    = "an error of the server that a sink has wrapped is known: client-go asks twelve times more"
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
	"correlator: one event, empty":                          "an event about an object without a name has a name that servers take",
	"election: metrics":                                     "the metric says that nobody leads when a lead was ended by its context as well",
	"locks: an event before there is a lease":               "client-go panics",
	"pager: each item with a version":                       "a token goes without a version: servers refuse both",
	"pager: nil list, pages of 3":                           "it panics in both; here the error says so, and in client-go it depends on which of two goroutines is first",
	"retry watcher: wrapped forbidden":                      "an end has an event that says why",
	"until: wrapped forbidden":                              "as above",
	"informer watcher":                                      "the channel is closed when the watch has been stopped, as the interface says",
	"mutation cache: adds true":                             "client-go panics at a version that is no number",
	"parallelize: {-1 3 1}":                                 "client-go panics",
	"parallelize: {2 -1 1}":                                 "client-go panics",
	`managers: broken server, subresource "", of [ssa]`:     "fields are read if there is something to do",
	"keys: parse PEM of pkcs8 ecdsa":                        "a private key of ECDSA has its public key in PKCS 8 as well, as one of RSA has",
	"certificate requests: no v1, all":                      "the duration is asked for in v1beta1 as well, which has it",
	"transport: wrapped round trippers":                     "nobody calls CancelRequest any more: a request ends with its context",
}

func TestToolsBehaveLikeClientGo(t *testing.T) { sides.Compare(t, 1500, differences) }
