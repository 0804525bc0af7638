package main

import (
	"slices"
	"strings"
	"testing"
)

func TestProgramOptions(t *testing.T) {
	for _, c := range []struct{ args, got, rest, err string }{
		{"--all -o f app -x", "--all -o=f", "app -x", ""},
		{"-o=f --all -- -app", "-o=f --all", "-app", ""},
		{"app --all", "", "app --all", ""},
		{"--all=1 app", "--all=1", "app", ""},
		{"-o", "", "", "-o needs a value"},
		{"--all", "--all", "", "which program?"},
		{"--bad 1 app", "", "", "unknown option --bad"},
	} {
		var got []string
		rest, err := programOptions(strings.Fields(c.args), func(name string) bool {
			if name == "--all" {
				got = append(got, name)
			}
			return name == "--all"
		}, func(name, val string) error {
			if name == "--bad" {
				return errUsage{"unknown option " + name}
			}
			got = append(got, name+"="+val)
			return nil
		})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if !slices.Equal(got, strings.Fields(c.got)) || !slices.Equal(rest, strings.Fields(c.rest)) || said != c.err {
			t.Errorf("%q: %q, %q, %q", c.args, got, rest, said)
		}
	}
}
