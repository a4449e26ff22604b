// Package behaviour holds module clientgo against client-go. It has nothing but tests:
//
//	make dropin-behaviour                                                # in the root: 2,000 histories of each suite
//	cd clientgo/proof && go test ./behaviour -run Histories -from 17 -histories 1   # one of them again
//
// The two modules have one path, so that no program can have both. Package play, which plays random histories to
// stores, queues, reflectors and informers, is built twice, with go.mod as it is and without the line that puts
// clientgo in client-go's place. Each binary writes down what it was answered. The two files must be the same.
//
// The tests of clientgo/tools/cache are run on client-go as well: what they demand is what client-go does, but for a
// table of defects.
package behaviour
