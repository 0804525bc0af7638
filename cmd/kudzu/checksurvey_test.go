package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/fatbin"
)

// TestSurvey: of kernels with the same instructions one is lowered, each that has another one is, and none is assumed where its
// instructions were not lowered anywhere.
func TestSurvey(t *testing.T) {
	kernel := func(name, body string) string {
		return ".visible .entry " + name + "(.param .u64 p) {\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<3>;\n" + body + "ret;\n}\n"
	}
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func ext();\n"
	const plain, guarded = "add.s32 %r1, %r2, %r3;\n", "setp.eq.s32 %p1, %r1, 0;\n@!%p1 add.s32 %r1, %r2, %r3;\n"
	texts := []string{
		head + kernel("one", plain) + kernel("two", "$L: // a label\n{\n"+plain+"}\n") + kernel("three", guarded) + kernel("four", guarded),
		head + kernel("five", "call ext;\n") + kernel("six", "/* call ext; */ "+plain) + kernel("seven", "call ext;\n"),
		head + ".func inner() {\n.reg .b64 %d<3>;\nmul.lo.s64 %d1, %d2, %d2;\nret;\n}\n" + kernel("eight", "call inner;\n"+plain),
		head + kernel("nine", "sub.s32 %r1;\n"),
	}
	var file []byte
	for _, text := range texts {
		b, err := fatbin.Write([]fatbin.Part{{Kind: fatbin.PTX, SM: 80, Data: []byte(text)}, {Kind: fatbin.ELF, SM: 80, Data: []byte("machine")}})
		if err != nil {
			t.Fatal(err)
		}
		file = append(file, b...)
	}
	r := newCheckReport(nil)
	r.loads, r.lowered, r.bar = newLoads(80), true, &bar{}
	r.survey(file)
	looked := map[string]string{}
	for _, k := range r.all {
		looked[k.name] = fmt.Sprint(k.assumed, k.err != nil)
	}
	// Texts are looked at side by side, so one and six, which is two of them, may each be the first.
	for names, want := range map[string][]string{"three four": {"false false", "true false"}, "five": {"false true"}, "seven": {"false true"}, "eight": {"false false"}} {
		var states []string
		for _, n := range strings.Fields(names) {
			states = append(states, looked[n])
		}
		if !slices.Equal(states, want) {
			t.Errorf("%s: %q, want %q (assumed, interpreted)", names, states, want)
		}
	}
	for _, n := range []string{"two", "six"} {
		if looked[n] != "true false" && looked[n] != "false false" {
			t.Errorf("%s: %s", n, looked[n])
		}
	}
	if looked["two"] != "true false" && looked["one"] != "true false" {
		t.Error("both of two kernels with the same instructions were lowered")
	}
	if len(r.errors) != 1 || r.modules != 4 || r.binaries != 4 {
		t.Errorf("%d modules, %d pieces of machine code, errors %q", r.modules, r.binaries, r.errors)
	}
}
