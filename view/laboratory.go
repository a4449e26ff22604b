package view

import "context"

// Laboratory lets the page change a program: pause a stage, delete objects, drop a watch. The page
// draws a button for each [Action], at the action's box. Each call comes from a request with the
// token or a session. Without a Laboratory, the page has no buttons.
//
// The methods are called concurrently.
type Laboratory interface {
	// Actions returns the available actions. They don't change.
	Actions() []Action

	// Do performs an action. Values are the values of the action's inputs by id; each has passed
	// [Input.Check]. The user who pressed the button sees the error, or else the sentence done.
	Do(ctx context.Context, action string, values map[string]string) (done string, err error)

	// State returns the settings that differ from their initial values, such as "paused":
	// "workers". Each frame includes it, so that all viewers and recordings see it.
	State() map[string]string
}

// Action is an action that the page offers.
type Action struct {
	// ID names the action for the page and for lessons of the tour, such as "pause" or "delete".
	ID string `json:"id"`

	// Box is the box that has the button, or "" for the whole picture.
	Box string `json:"box,omitempty"`

	// Label is the text of the button. Help describes the effect in a sentence.
	Label string `json:"label"`
	Help  string `json:"help"`

	// Key is the key that presses the button, one character, or "" for no key.
	Key string `json:"key,omitempty"`

	Inputs []Input `json:"inputs,omitempty"`
}

// Input is a parameter of an action.
type Input struct {
	ID      string `json:"id"`
	Label   string `json:"label"`
	Default string `json:"default"`

	// Choices are the allowed values. Without choices, the value is an integer from Min to Max.
	Choices []string `json:"choices,omitempty"`
	Min     int      `json:"min,omitempty"`
	Max     int      `json:"max,omitempty"`
}
