package view

import "context"

// Laboratory is what the page may do to a program: pause a stage, delete objects, drop a watch. The page draws a
// button for each [Action], at the box that it is about, and knows nothing more of them. Every call has passed the
// token; without a Laboratory the page has no buttons.
//
// Its methods are called from several goroutines.
type Laboratory interface {
	// Actions are what can be done. They don't change.
	Actions() []Action

	// Do does it. values are those of the action's inputs, by their ids, each of which has passed
	// [Input.Check]. done is a sentence for the person who pressed the button; an error is shown as well.
	Do(ctx context.Context, action string, values map[string]string) (done string, err error)

	// State is what is not as it was at the beginning, such as "paused": "workers". It is part of
	// each frame, so that all viewers, and recordings, see it.
	State() map[string]string
}

// Action is something that can be done.
type Action struct {
	// ID names the action, for the page and for scripts of the tour: "pause", "delete".
	ID string `json:"id"`

	// Box is the box that the button is at; "" for the whole.
	Box string `json:"box,omitempty"`

	// Label is on the button, and Help says in a sentence what will happen.
	Label string `json:"label"`
	Help  string `json:"help"`

	// Key is the key of the keyboard that presses the button, one character; "" for none.
	Key string `json:"key,omitempty"`

	Inputs []Input `json:"inputs,omitempty"`
}

// Input is something that an action needs to know.
type Input struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Default string `json:"default"`

	// Choices are the values that it may have. If there are none, it is a whole number, from Min to Max.
	Choices []string `json:"choices,omitempty"`
	Min     int      `json:"min,omitempty"`
	Max     int      `json:"max,omitempty"`
}
