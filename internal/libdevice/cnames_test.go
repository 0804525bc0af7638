package libdevice

import (
	"strings"
	"testing"
)

// Every function that C's module calls is declared there once, and is the library's.
func TestCText(t *testing.T) {
	text := CText()
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "declare ") {
			continue
		}
		if strings.Count(text, line) != 1 {
			t.Errorf("declared twice: %s", line)
		}
		_, name, _ := strings.Cut(line, "@")
		name, _, _ = strings.Cut(name, "(")
		if strings.HasPrefix(name, Prefix) && !strings.Contains(Text(), " @"+name+"(") {
			t.Errorf("the library has no %s", name)
		}
	}
	for _, want := range []string{
		"define float @sinf(float %a) #0 {\n  %r = call float @__nv_sinf(float %a)\n  ret float %r\n}\n",
		"define void @sincos(double %a, ptr %b, ptr %c) #0 {\n  call void @__nv_sincos(double %a, ptr %b, ptr %c)\n  ret void\n}\n",
		"define i64 @lroundf(float %a) #0 {\n  %r = call i64 @__nv_llroundf(float %a)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no\n%s", want)
		}
	}
}
