package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSMISet: what options that would change devices say, with rights and without; not supported is a warning.
func TestSMISet(t *testing.T) {
	root := os.Geteuid() == 0
	for _, c := range []struct {
		args, refusal, denial string
	}{
		{"-pm 0", `Unable to set persistence mode for GPU \S+: Not Supported`, `Unable to set persistence mode for GPU \S+: Insufficient Permissions`},
		{"-c EXCLUSIVE_PROCESS", `Unable to set compute mode for GPU \S+: Not Supported`, `Unable to set compute mode for GPU \S+: Insufficient Permissions`},
		{"-ac 2505,875", `Setting applications clocks is not supported for GPU \S+\.`, `The current user does not have permission to change clocks for GPU \S+\.`},
		{"-lgc 1500", `Setting locked GPU clocks is not supported for GPU \S+\.`, `The current user does not have permission to change clocks for GPU \S+\.`},
		{"--lock-memory-clocks=1,2", `Setting locked Memory clocks is not supported for GPU \S+\.`, `The current user does not have permission to change clocks for GPU \S+\.`},
		{"-pl 250.5", `Changing power management limit is not supported for GPU: \S+\.`, `Failed to set power management limit for GPU \S+: Insufficient Permissions`},
		{"-e 1", `Unable to set ECC mode for GPU \S+: Not Supported`, `Unable to set ECC mode for GPU \S+: Insufficient Permissions`},
		{"-r", `Resetting GPU \S+ is not supported\.`, ""},
		{"--gom=1", `Unable to set GPU operation mode for GPU \S+: Not Supported`, ""},
	} {
		want, code := "^("+c.refusal+"\nTreating as warning and moving on\\.\n){2}All done\\.\n$", exitCode(0)
		if !root && c.denial != "" {
			want, code = "^"+c.denial+"\nTerminating early due to previous errors\\.\n$", 4
		}
		got, err := smi(t, strings.Fields(c.args)...)
		if !exits(err, code) || !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("smi %s: %v\n%s\nwant %s", c.args, err, got, want)
		}
	}
	if got, err := smi(t, "--get-hostname", "-eow", "-i", "0"); !exits(err, 3) || !strings.HasSuffix(got, "All done.\n") {
		t.Errorf("a warning that is an error: %v\n%s", err, got)
	}
	for _, args := range []string{"-pm maybe", "-c 7", "-ac 1,2,3", "-pl -5"} {
		if got, err := smi(t, strings.Fields(args)...); !exits(err, smiInvalid) || !strings.HasPrefix(got, "Invalid argument ") {
			t.Errorf("smi %s: %v\n%s", args, err, got)
		}
	}
	if got, err := smi(t, "-rac", "-i", "0"); root && (err != nil || got != "All done.\n") {
		t.Errorf("nothing to reset: %v\n%s", err, got)
	}
	want, code := "Insufficient Permissions\n", exitCode(4)
	if root {
		want, code = "Not Supported\n", 3
	}
	for _, option := range []string{"-m 1", "-r"} {
		if got, err := smi(t, append([]string{"drain", "-p", "0000:01:00.0"}, strings.Fields(option)...)...); !exits(err, code) || !strings.HasSuffix(got, want) {
			t.Errorf("drain %s: %v\n%s", option, err, got)
		}
	}
	if got, err := smi(t, "drain", "--bogus"); !exits(err, smiUnknown) || !strings.HasPrefix(got, "ERROR: Option --bogus is not recognized. Please run 'nvidia-smi drain -h'.") {
		t.Errorf("%v\n%s", err, got)
	}
}

// exits reports whether an error is an exit code, 0 being none.
func exits(err error, code exitCode) bool {
	var got exitCode
	if err == nil {
		return code == 0
	}
	return errors.As(err, &got) && got == code
}

// TestSMIDTD: the elements of the XML are those that the DTD inside it declares, in its order.
func TestSMIDTD(t *testing.T) {
	for _, args := range []string{"-q -x --dtd", "-q -x -u --dtd"} {
		doc, err := smi(t, strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := smi(t, strings.Fields(strings.ReplaceAll(strings.ReplaceAll(args, "-q", ""), "-x", ""))...)
		if err != nil || !strings.Contains(doc, "<!DOCTYPE nvidia_smi_log [\n"+alone+"]>\n<nvidia_smi_log>\n") {
			t.Errorf("%s: %v: the DTD inside differs from the one alone", args, err)
		}
		model := map[string]string{}
		for _, m := range regexp.MustCompile(`<!ELEMENT (\S+) (.*)>`).FindAllStringSubmatch(alone, -1) {
			if model[m[1]] != "" {
				t.Errorf("%s is declared twice", m[1])
			}
			model[m[1]] = m[2]
		}
		seen := 0
		walkXML(t, doc, func(name string, children []string, text bool) {
			seen++
			if !fits(model[name], children, text) {
				t.Errorf("%s: %s has %q, text %v: declared %q", args, name, children, text, model[name])
			}
		})
		if seen < 6 || args == "-q -x --dtd" && seen < 300 {
			t.Errorf("%s: %d elements", args, seen)
		}
	}
}

// fits reports whether what is inside an element is what its declaration says.
func fits(model string, children []string, text bool) bool {
	switch {
	case model == "(#PCDATA)":
		return len(children) == 0
	case strings.HasPrefix(model, "(#PCDATA |"):
		for _, c := range children {
			if !strings.Contains(model, c) {
				return false
			}
		}
		return true
	}
	declared := strings.Split(strings.Trim(model, "()"), ", ")
	if last := len(declared) - 1; declared[last] == "gpu*" { // any number of devices
		declared = declared[:last]
		for len(children) > last && children[len(children)-1] == "gpu" {
			children = children[:len(children)-1]
		}
	}
	return !text && slices.Equal(declared, children)
}

// walkXML calls see for every element, once it ends.
func walkXML(t *testing.T, doc string, see func(name string, children []string, text bool)) {
	t.Helper()
	type open struct {
		name     string
		children []string
		text     bool
	}
	var stack []*open
	d := xml.NewDecoder(strings.NewReader(doc))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := token.(type) {
		case xml.StartElement:
			if len(stack) > 0 {
				top := stack[len(stack)-1]
				top.children = append(top.children, v.Name.Local)
			}
			stack = append(stack, &open{name: v.Name.Local})
		case xml.EndElement:
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			see(top.name, top.children, top.text)
		case xml.CharData:
			if len(stack) > 0 && strings.TrimSpace(string(v)) != "" {
				stack[len(stack)-1].text = true
			}
		}
	}
}
