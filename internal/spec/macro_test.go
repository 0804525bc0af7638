package spec

import (
	"strings"
	"testing"
)

// TestMacro: rows that only the generator looks at.
func TestMacro(t *testing.T) {
	a, err := Parse("x", "library libx.so.1 package x status y null 1 unsupported 2 child 3 exit 4 plain\nmacro X_VERSION(A,B) ((A) * 100 + (B))\nmacro X_NONE {0, 1}\n")
	if err != nil {
		t.Fatal(err)
	}
	if !a.Answered.Plain || len(a.Macros) != 2 || a.Macros[0] != (Macro{"X_VERSION(A,B)", "((A) * 100 + (B))"}) || a.Macros[1].Text != "{0, 1}" {
		t.Errorf("%+v %+v", a.Answered, a.Macros)
	}
	if _, err := Parse("x", "library libx.so.1 package x status y null 1 unsupported 2 child 3 exit 4\nmacro X_NONE\n"); err == nil || !strings.Contains(err.Error(), "without a text") {
		t.Errorf("a macro without a text: %v", err)
	}
}
