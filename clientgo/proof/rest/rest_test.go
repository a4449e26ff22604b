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
	"a copy is changed":                             "the copy of a Config has certificates, keys and arguments of its own",
	"token file after a refusal":                    "a token that the server has refused is read again from its file, and not after a minute",
	"auth providers that were removed":              "the advice is in other words",
	"pem ec pkcs8":                                  "a public key is taken of every private key, and not of those in PKCS#1 and SEC 1 alone",
	"reflector lists 36":                            "a list that has its items twice is an error: the first ones have been taken when the second ones arrive",
	"reflector lists 38":                            "as above",
	"reflector lists item 1 null":                   "a list with an object that has no name is an error",
	"reflector watches object without kind":         "an object of an event that says no kind is of the kind of the others",
	"reflector watches another kind first":          "an object of another kind ends a watch, and is not left out",
	`of cluster ":bad"`:                             "the error does not show the URL of the proxy, which may have a password",
	`of cluster "http://u:SECRET@p:x"`:              "as above",
	"warnings beside a body that nobody can decode": "warnings of an answer are told whatever its body is",
}

func TestRequestsAreTheSameAsClientGos(t *testing.T) { sides.Compare(t, 3900, differences) }
