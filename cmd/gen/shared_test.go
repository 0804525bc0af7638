package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSharedHeaders: a struct that base and Go image exchange, and that changes in any header of host.h, changes the sum by which the two
// know each other.
func TestSharedHeaders(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "c/base"), 0o755); err != nil {
		t.Fatal(err)
	}
	headers, err := filepath.Glob("../../c/base/*.h")
	if err != nil || len(headers) == 0 {
		t.Fatalf("no headers: %v", err)
	}
	texts := map[string][]byte{}
	for _, path := range headers {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = text
	}
	sum := func(name, old, changed string) uint64 {
		t.Helper()
		for n, text := range texts {
			if n == name {
				now := bytes.Replace(text, []byte(old), []byte(changed), 1)
				if bytes.Equal(now, text) {
					t.Fatalf("%s has no %q", name, old)
				}
				text = now
			}
			if err := os.WriteFile(filepath.Join(root, "c/base", n), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		v, err := (&world{root: root}).sharedHeaders()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	plain := sum("", "", "")
	for _, c := range [][3]string{
		{"host.h", "	int secure;", "	long secure;"},                                    // struct kz_host
		{"host.h", "	void (*thread_ended)", "	void *more;\n	void (*thread_ended)"},     // struct kz_image
		{"host.h", "	uint64_t (*now)(void);", "	void *more;\n	uint64_t (*now)(void);"}, // struct kz_trace_host
		{"thread.h", "struct kz_thread {", "struct kz_thread {\n	void *more;"},         // what its members point at
		{"register.h", "struct kz_note {", "struct kz_note {\n	void *more;"},
	} {
		if sum(c[0], c[1], c[2]) == plain {
			t.Errorf("%s: %q for %q changes nothing", c[0], c[2], c[1])
		}
	}
	if sum("trace.h", "\n", "\n\n") != plain {
		t.Error("a header that host.h does not include counts")
	}
	for path, want := range map[string]string{"c/base/ztable.h": "return KZ_SHARED +", "internal/abi/zshared.h": fmt.Sprintf("#define KZ_SHARED %#xull\n", plain)} {
		text, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not have the sum: %v", path, err)
		}
	}
}
