package main

// group has the rows for one suite.
type group struct {
	name   string
	tricks []trick
}

// groups has all rows of the table.
var groups = []group{
	{"`sync`: 20,000 pods, over HTTP", []trick{
		inSync("first sync, wall", "json", false, "items are cut out of the stream and decoded on all cores while it arrives, by decoders of our own"),
		inSync("first sync, CPU", "json", false, "decoders that know the types, and do not build again what they have built before"),
		inSync("first sync, peak RSS", "json", false, "a list is taken in item by item, and is never whole in memory; what is equal is there once"),
		inSync("live heap per pod", "json", false, "what is equal in two pods is there once"),
		inSync("relist, unchanged: allocated", "json", false, "objects that have not changed are recognised in their bytes, and not decoded"),
		inSync("relist, unchanged: CPU", "json", false, "the same"),
		inSync("watch, events", "json", true, "events are decoded on all cores, ahead of who consumes them; what an object has in common with its last version is not built again"),
		inSync("watch, CPU per event", "json", false, "the same"),
		inSync("first sync, wall", "protobuf", false, "protobuf for built-in types: fewer bytes, and lengths where JSON has to be scanned"),
		inSync("watch, events", "protobuf", true, "the same"),
	}},
	{"`latency`: from the server's write to nine handlers", []trick{
		inLatency("1000 events per s, evenly, p50", "plain reads JSON, which the others do not here; beyond that, as for bursts"),
		inLatency("1000 events per s, evenly, p99", "the same"),
		inLatency("bursts of 500 events, p50", "events are popped and told in batches, and a burst wakes each handler once; the queue is not locked while its consumer works"),
		inLatency("bursts of 500 events, p99", "the same"),
		inLatency("goroutines per informer", "one more than plain reads ahead"),
	}},
	{"`store`: 20,000 objects, two indexes", []trick{
		inStore("Get in turn, parallel", "readers take no lock, so that no two cores write to the same cache line"),
		inStore("Get while one goroutine writes", "the same, and nobody waits"),
		inMicroseconds(inStore("write while one goroutine lists everything", "objects have versions: a writer does not wait for readers")),
		inStore("update, index values as before", "values are compared first, and no map is made for them: one allocation for a version"),
		inStore("update, the object has moved to another node", "an index value has a dense list of records, not a map"),
		inMicroseconds(inStore("iterate over all objects", "readers walk a list that the store has, and copy nothing")),
		inMicroseconds(inStore("iterate over the 100 objects of a node", "the same, and no look-up for each key")),
	}},
	{"`queue`: what an operation costs, how long keys wait, who gets a turn", []trick{
		inQueue("Add, Get, Done, one goroutine", "dirty, processing and the place in the queue are in one entry of one table, where plain has two maps and a slice"),
		{
			what: "Add, Get, Done, one goroutine, allocated", trick: "entries are used again", unit: "B",
			clientGo: cellRef{"Add, Get, Done, one goroutine", "", "client-go, B"},
			plain:    cellRef{"Add, Get, Done, one goroutine", "", "plain, B"},
			kinform:  cellRef{"Add, Get, Done, one goroutine", "", "kinform, B"},
		},
		inQueue("one producer, 8 workers, wall", "keys are hashed before the lock, and workers woken after it"),
		inQueue("a producer that does not wait, 8 workers, wall", "the same, and spare entries are kept until the next collection"),
		inQueue("Add of keys that are queued, parallel, wall", "keys are hashed before the lock; there is one look-up on either side"),
		inQueue("AddAfter of 100,000 new keys", "a radix heap, whose lists run through the keys' entries"),
		inQueue("AddAfter, 100,000 pending, to an earlier time", "the same: moving a time touches an entry and its neighbours"),
		inQueue("AddAfter, 100,000 pending, until due and done", "the same, and nothing is allocated"),
		inWaiting("uniform, 4 workers", "p50"),
		inWaiting("uniform, 4 workers", "p99"),
		{
			what: "fairness to 20 namespaces, one of them loud (Jain's index)", trick: "groups take turns, where one asks for it", moreIsBetter: true,
			clientGo: cellRef{"client-go", "", "Jain's index"},
			plain:    cellRef{"plain", "", "Jain's index"},
			kinform:  cellRef{"kinform, grouped by namespace", "", "Jain's index"},
		},
	}},
	{"`footprint`: a program with a pod informer", []trick{
		inFootprint("binary, bytes", "binary", "MB", 1e6, "plain has fewer features: kinform's bytes are what they cost"),
		inFootprint("packages linked", "packages linked", "", 0, "the same"),
		inFootprint("start to exit, ms", "start to exit", "ms", 0, "the same; client-go registers every built-in type"),
	}},
}

var displayName = map[string]string{"json": "JSON", "protobuf": "protobuf"}

// inSync returns a trick with numbers for both of kinform's programs, and for plain if it supports
// the encoding.
func inSync(metric, encoding string, rising bool, reason string) trick {
	standard, unshared := metric+", "+encoding+", default", metric+", "+encoding+", without sharing"
	t := trick{
		what: metric + ", " + displayName[encoding], trick: reason, moreIsBetter: rising,
		clientGo: cellRef{standard, "", "client-go"}, kinform: cellRef{standard, "", "kinform"}, withoutSharing: cellRef{unshared, "", "kinform"},
	}
	if encoding == "json" {
		t.plain = cellRef{standard, "", "plain"}
	}
	return t
}

func inLatency(row, reason string) trick { return inColumns(row, "", reason) }

func inStore(row, reason string) trick { return inColumns(row, " ns", reason) }

// inMicroseconds converts the numbers of a trick, which are in nanoseconds in the output.
func inMicroseconds(t trick) trick {
	t.unit, t.divisor = "µs", 1000
	return t
}

// inColumns returns a trick whose numbers are in columns named after the sides, with the unit as a
// suffix.
func inColumns(row, unit, reason string) trick {
	return trick{
		what: row, trick: reason, unit: unit[min(len(unit), 1):],
		clientGo: cellRef{row, "", "client-go" + unit}, plain: cellRef{row, "", "plain" + unit}, kinform: cellRef{row, "", "kinform" + unit},
	}
}

func inQueue(row, reason string) trick {
	t := inColumns(row, "", reason)
	t.unit = "ns"
	return t
}

func inWaiting(load, quantile string) trick {
	t := inColumns(load, "", "as for one producer, 8 workers")
	t.what, t.unit = "from Add to Get, "+load+", "+quantile, "µs"
	t.clientGo.second, t.plain.second, t.kinform.second = quantile, quantile, quantile
	return t
}

func inFootprint(row, what, unit string, divisor float64, reason string) trick {
	return trick{
		what: what, trick: reason, unit: unit, divisor: divisor,
		clientGo: cellRef{row, "", "client-go"}, plain: cellRef{row, "", "plain"},
		kinform: cellRef{row, "", "kinform"},
	}
}
