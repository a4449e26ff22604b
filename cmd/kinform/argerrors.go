package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kinform/kinform/internal/spelling"
)

// unknownCommand checks the arguments of kinform without a command. Any argument is an error: it
// names a command that does not exist.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	hint := cmd.Name() + " --help lists the commands"
	if similar := spelling.Similar(args[0], names); len(similar) > 0 {
		hint = "did you mean " + strings.Join(similar, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q: %s", args[0], hint)
}

// helpTarget checks the arguments of "kinform help". They must name a command.
func helpTarget(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || found != cmd.Root() {
		return err
	}
	return unknownCommand(found, rest)
}

// explainFlag returns an error about a flag. It describes the flag as the user typed it, and not as
// the parser sees it.
func explainFlag(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := invalid.GetFlag()
		return fmt.Errorf("--%s %q is wrong: it must be %s", flag.Name, invalid.GetValue(), acceptedValues(flag))
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		if similar := spelling.Similar(unknown.GetSpecifiedName(), names); len(similar) > 0 {
			return fmt.Errorf("%w: did you mean --%s?", err, strings.Join(similar, " or --"))
		}
	}
	return fmt.Errorf("%w: %s --help lists the flags", err, cmd.CommandPath())
}

// acceptedValues describes which values a flag accepts.
func acceptedValues(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "int":
		return "a whole number, such as " + flag.DefValue
	case "float64":
		return "a number, such as " + flag.DefValue
	case "duration":
		return "a time with its unit, such as 10s or 1m30s"
	case "bool":
		return "true or false"
	default:
		return "a " + flag.Value.Type()
	}
}
