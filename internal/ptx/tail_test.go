package ptx

import (
	"strings"
	"testing"
)

// TestCutTail: a module followed by remnants of memory is the module; a mistake in a text stays one.
func TestCutTail(t *testing.T) {
	const head = ".version 7.0\n.target sm_70\n.address_size 64\n"
	const kernel = ".visible .entry k(.param .u64 p) {\n\tret;\n}\n"
	for what, r := range map[string]struct {
		module, tail string
		ok           bool
	}{
		"bytes":                     {head + kernel, "\xff\xfe\x01\x7f", true},
		"a word":                    {head + kernel, "abc", true},
		"a number":                  {head + kernel, "0x21", true},
		"a brace":                   {head + kernel, "}", true},
		"the end of another text":   {head + kernel, "64 %rd3, %rd1;\n\tret;\n}\n", true},
		"a quote":                   {head + kernel, "\"abc", true},
		"a variable before it":      {head + kernel + ".global .u32 v = 5;\n", "!\x80", true},
		"a header only":             {head, "\x01\x02", false},
		"the rest of a comment":     {head + kernel + "// end", " \xff\xff", false}, // part of the comment: nothing to cut
		"nothing":                   {head + kernel, "", false},
		"a whole kernel after it":   {head + kernel, "}\n" + kernel, false},
		"a directive":               {head + kernel, ".garbage", false},
		"no version":                {"", "garbage", false},
		"a body that does not end":  {head + ".visible .entry k() {\n ret;\n", "\xff", false},
		"a comment that never ends": {head + kernel + "/* ", "\xff", false},
	} {
		got, ok := CutTail(r.module + r.tail)
		want := r.module
		if !r.ok {
			want += r.tail
		}
		if ok != r.ok || got != want {
			t.Errorf("%s: %v, %q", what, ok, got)
		}
		if _, err := IndexModule(got); ok && err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := IndexModule(r.module + r.tail); ok && err == nil {
			t.Errorf("%s: the text was good as it is", what)
		}
	}
	// Wherever a good text is followed by any byte, it is read or cut.
	for c := 1; c < 256; c++ {
		text := head + kernel + strings.Repeat(string([]byte{byte(c)}), 3)
		if _, err := IndexModule(text); err == nil || strings.ContainsRune("./@", rune(c)) {
			continue
		}
		if got, ok := CutTail(text); !ok || got != head+kernel {
			t.Errorf("byte %#x: %v, %q", c, ok, got)
		}
	}
}
