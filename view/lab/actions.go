package lab

import "github.com/kinform/kinform/view"

// The largest values that inputs accept.
const (
	maxObjects = 5000
	maxRate    = 5000
	maxWorkers = 16
)

func countInput(n string) []view.Input {
	return []view.Input{{ID: "n", Label: "how many", Default: n, Min: 1, Max: maxObjects}}
}

func rateInput(n string, most int) []view.Input {
	return []view.Input{{ID: "n", Label: "a second", Default: n, Min: 0, Max: most}}
}

func durationInput(n string) []view.Input {
	return []view.Input{{ID: "ms", Label: "ms", Default: n, Min: 0, Max: 60_000}}
}

func choiceInput(id, label string, choices ...string) view.Input {
	return view.Input{ID: id, Label: label, Default: choices[0], Choices: choices}
}

// stages are the stages that can be paused.
var stages = []string{"watch", "fifo", "handlers", "workers"}

// Actions returns the buttons.
func (l *Lab) Actions() []view.Action {
	stage := []view.Input{choiceInput("stage", "stage", stages...)}
	return []view.Action{
		{ID: "reset", Label: "As at the beginning", Key: "0", Help: "ends all pauses, faults, delays and rates; objects are not changed"},
		{ID: "pause", Label: "Pause", Key: "p", Inputs: stage, Help: "pauses a stage; its input waits in the stage before it"},
		{ID: "step", Label: "Step", Key: "s", Inputs: stage, Help: "lets a paused stage process one more event, batch or key"},
		{ID: "resume", Label: "Go on", Key: "r", Inputs: stage, Help: "lets a paused stage continue"},

		{ID: "create", Box: "server", Label: "Create pods", Key: "n", Inputs: countInput("5"), Help: "creates pods"},
		{ID: "update", Box: "server", Label: "Update pods", Key: "u", Inputs: countInput("5"), Help: "changes an annotation of the pods that were created last"},
		{ID: "delete", Box: "server", Label: "Delete pods", Key: "x", Inputs: countInput("5"), Help: "deletes the pods that were created last"},
		{ID: "burst", Box: "server", Label: "Write one pod", Inputs: countInput("20"), Help: "changes the same pod again and again, as fast as possible"},
		{ID: "hot", Box: "server", Label: "Hot pod", Inputs: rateInput("50", 1000), Help: "keeps changing the same pod at this rate; 0 stops"},
		{ID: "rate", Box: "server", Label: "Churn", Inputs: rateInput("20", maxRate), Help: "keeps changing, creating and deleting pods at this rate; 0 stops"},
		{ID: "other", Box: "server", Label: "Write something else", Inputs: countInput("40"), Help: "writes objects of another resource: the server's version grows, but the watch gets no events"},

		{ID: "drop", Box: "reflector", Label: "Drop the watch", Help: "cuts the connection of the watch"},
		{ID: "expire", Box: "reflector", Label: "410 Gone", Help: "cuts the watch and makes the server forget its history: the server refuses the next watch, so the reflector must list again"},
		{ID: "vanish", Box: "reflector", Label: "Delete unseen", Inputs: countInput("3"), Help: "deletes pods while no watch is open, and makes the server forget the deletions: only a list shows them"},
		{ID: "throttle", Box: "reflector", Label: "429 for a while", Inputs: []view.Input{{ID: "n", Label: "requests", Default: "3", Min: 0, Max: 100}}, Help: "cuts the watch, and refuses the next requests with 429, Too Many Requests; 0 stops"},
		{ID: "delay", Box: "reflector", Label: "Delay events", Inputs: durationInput("1000"), Help: "delays each event of the watch by this time, so that the store is stale; 0 stops"},
		{ID: "skip", Box: "reflector", Label: "Lose events", Inputs: countInput("1"), Help: "drops the next events of the watch, which no real server does: only a list shows the difference"},
		{ID: "relist", Box: "reflector", Label: "Relist", Help: "makes the server refuse the next watch with 410, so that the reflector lists again"},
		{ID: "fetch", Box: "reflector", Label: "Snapshot by", Inputs: []view.Input{choiceInput("how", "way", "auto", "list", "paged", "watchlist")}, Help: "starts another informer, which lists whole, in pages of 10, or by a streaming list"},
		{ID: "encoding", Box: "reflector", Label: "Encoding", Inputs: []view.Input{choiceInput("encoding", "bytes", "protobuf", "json")}, Help: "starts another informer, which requests this encoding"},
		{ID: "compare", Box: "reflector", Label: "Compare lists", Inputs: []view.Input{{ID: "n", Label: "pods", Default: "2000", Min: 100, Max: 20_000}}, Help: "lists the pods of a separate server whole, in pages and by a streaming list, and shows the time and memory of each"},

		{ID: "omit", Box: "store", Label: "Leave out", Inputs: []view.Input{choiceInput("parts", "parts", "nothing", "status and managedFields")}, Help: "starts another informer, which leaves out these parts of objects before decoding"},

		{ID: "slow", Box: "handlers", Label: "Slow handler", Inputs: durationInput("200"), Help: "each call of the handler takes this long; 0 stops"},
		{ID: "policy", Box: "handlers", Label: "Mailbox", Inputs: []view.Input{choiceInput("overflow", "when full", "coalesce", "block", "unbounded")}, Help: "starts another informer, with this rule for a full mailbox of its handler (32 events)"},
		{ID: "resync", Box: "handlers", Label: "Resync", Help: "calls the handler once more for every stored object, without a request"},
		{ID: "crash", Box: "handlers", Label: "Crash and restart", Help: "ends the informer, and starts another one with an empty store"},

		{ID: "work", Box: "workers", Label: "Work takes", Inputs: durationInput("500"), Help: "each reconcile takes this long; 0 stops"},
		{ID: "fail", Box: "workers", Label: "Turns fail", Inputs: []view.Input{{ID: "percent", Label: "%", Default: "50", Min: 0, Max: 100}}, Help: "this percentage of reconciles fails, and their keys are retried later; 0 stops"},
		{ID: "workers", Box: "workers", Label: "Workers", Inputs: []view.Input{{ID: "n", Label: "how many", Default: "4", Min: 1, Max: maxWorkers}}, Help: "sets how many workers take keys from the queue"},
	}
}
