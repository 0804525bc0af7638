package ptx

import (
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestHostile: garbage, deep nesting and absurd numbers give an error soon and little memory.
func TestHostile(t *testing.T) {
	garbage := make([]byte, 100<<20)
	r := rand.New(rand.NewSource(1))
	for i := 0; i < len(garbage); i += 7 {
		n := r.Uint64()
		for j := i; j < min(i+7, len(garbage)); j++ {
			garbage[j] = byte(n)
			n >>= 8
		}
	}
	open := header + ".entry k() {\n"
	for name, text := range map[string]string{
		"garbage":        string(garbage),
		"garbage body":   open + string(garbage[:8<<20]),
		"braces":         open + strings.Repeat("{", 1<<20),
		"module braces":  header + strings.Repeat("{", 1<<20),
		"parens":         open + ".reg .b32 r; mov.b32 r, " + strings.Repeat("(", 1<<20),
		"minus":          open + ".reg .b32 r; mov.b32 r, " + strings.Repeat("-", 1<<20),
		"ternaries":      open + ".reg .b32 r; mov.b32 r, " + strings.Repeat("1?", 1<<20),
		"plus":           open + ".reg .b32 r; mov.b32 r, " + strings.Repeat("1+", 1<<20),
		"vector":         open + ".reg .b32 r; mov.b32 {" + strings.Repeat("r,", 1<<20),
		"nested vector":  open + ".reg .b32 r; mov.b32 " + strings.Repeat("{", 1<<20),
		"registers":      open + ".reg .b32 %r<2000000000>; mov.b32 %r1999999999, 1; bogus; }",
		"many families":  open + strings.Repeat(".reg .b32 %r<2000000000>;\n", 1000) + "}",
		"array":          header + ".global .b8 a[1000000000000][1000000000000];",
		"initialiser":    header + ".global .b8 a[4][1000000000] = {{1}, {2}};",
		"dimensions":     header + ".global .b8 a" + strings.Repeat("[1]", 1<<16) + ";",
		"words":          open + "add" + strings.Repeat(".u32", 1<<18) + " ;}",
		"errors":         open + strings.Repeat("x;\n", 1<<20),
		"items":          header + strings.Repeat(".bogus;\n", 1<<20),
		"comment":        header + "/*" + strings.Repeat("x", 1<<20),
		"string":         header + ".pragma \"" + strings.Repeat("x", 1<<20),
		"semicolons":     open + strings.Repeat(";", 16<<20),
		"nul":            strings.Repeat("\x00", 1<<20),
		"unclosed many":  header + strings.Repeat(".entry k() {\n", 1<<16),
		"init unclosed":  header + strings.Repeat(".global .b32 a = {\n", 1<<16),
		"directives":     open + strings.Repeat(".reg", 1<<20),
		"labels":         open + strings.Repeat("L:", 1<<18),
		"pending labels": open + strings.Repeat("bra L;", 1<<18),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			if _, err := ParseModule(text); err == nil {
				t.Error("parsed")
			}
			parse := time.Since(start)
			_, _ = IndexModule(text)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if limit := 5 * time.Second; took > limit {
				t.Errorf("took %v (parse %v)", took, parse)
			}
			if grew, limit := after.TotalAlloc-before.TotalAlloc, uint64(len(text))*40+64<<20; grew > limit {
				t.Errorf("allocated %d MB for %d MB of text", grew>>20, len(text)>>20)
			}
		})
	}
}
