// Package rest compares clientgo's package rest with client-go's. Both send the same requests to
// the same servers.
package rest_test

import (
	"testing"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

// differences maps each case whose result differs from client-go's to the reason.
var differences = map[string]string{
	"no base and an absolute path":                  "client-go panics",
	"no event":                                      "client-go panics",
	"warnings without a default handler":            "client-go panics at a server's warning",
	"url back-off of no url":                        "client-go panics",
	"cluster without a command":                     "client-go panics",
	"a copy is changed":                             "a copy of a Config has its own certificates, keys and arguments",
	"token file after a refusal":                    "after a 401 response, the token file is read again at once, and not only after a minute",
	"auth providers that were removed":              "the text of the advice differs",
	"pem ec pkcs8":                                  "the public key of every private key is returned, not only of keys in PKCS #1 and SEC 1",
	"reflector lists 36":                            "a list with two fields items is an error: the first items were passed on before the second field arrived",
	"reflector lists 38":                            "as above",
	"reflector lists item 1 null":                   "a list with an object that has no name is an error",
	"reflector watches object without kind":         "an event's object without a kind has the kind of the other objects",
	"reflector watches another kind first":          "an object of another kind ends the watch, and is not skipped",
	`of cluster ":bad"`:                             "the error does not show the URL of the proxy, which may have a password",
	`of cluster "http://u:SECRET@p:x"`:              "as above",
	"warnings beside a body that nobody can decode": "warnings of a response are reported even if its body is undecodable",
}

func TestRequestsAreTheSameAsClientGos(t *testing.T) { sides.Compare(t, 3900, differences) }
