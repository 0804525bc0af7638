package main

import "strings"

// programOptions reads the options before a program's name, and gives what follows them. flag takes an option without a value, and says
// whether it is one; value takes any other.
func programOptions(args []string, flag func(name string) bool, value func(name, val string) error) (rest []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		s := args[0]
		args = args[1:]
		if s == "--" {
			break
		}
		name, val, inline := strings.Cut(s, "=")
		if !inline && flag(name) {
			continue
		}
		if !inline {
			if len(args) == 0 {
				return nil, errUsage{name + " needs a value"}
			}
			val, args = args[0], args[1:]
		}
		if err := value(name, val); err != nil {
			return nil, err
		}
	}
	if len(args) == 0 {
		return nil, errUsage{"which program?"}
	}
	return args, nil
}
