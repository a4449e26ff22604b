package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Check returns nil if the action accepts the value, and otherwise an error with the reason.
func (i Input) Check(value string) error {
	if len(i.Choices) > 0 {
		if slices.Contains(i.Choices, value) {
			return nil
		}
		return fmt.Errorf("%s must be one of %s", i.ID, strings.Join(i.Choices, ", "))
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < i.Min || n > i.Max {
		return fmt.Errorf("%s must be a whole number from %d to %d", i.ID, i.Min, i.Max)
	}
	return nil
}

// values returns the values of all inputs of an action. An input that is not in given has its
// default.
func (a Action) values(given map[string]string) (map[string]string, error) {
	all := make(map[string]string, len(a.Inputs))
	for _, input := range a.Inputs {
		value, ok := given[input.ID]
		if !ok {
			value = input.Default
		}
		if err := input.Check(value); err != nil {
			return nil, fmt.Errorf("%s: %w", a.ID, err)
		}
		all[input.ID] = value
	}
	for id := range given {
		if _, ok := all[id]; !ok {
			return nil, fmt.Errorf("%s has no input %q", a.ID, clean(id))
		}
	}
	return all, nil
}
