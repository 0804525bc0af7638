package compile

import "testing"

// Two libraries that KUDZU_LLVM names for the dynamic loader, without a folder, do not share what they compiled.
func TestLibraryByName(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "libLLVM.so.19.1", "libLLVM.so.22.1", "libLLVM.so.98.1", "libLLVM.so.99.1", "/opt/a/libLLVM.so", "/opt/b/libLLVM.so"} {
		t.Setenv("KUDZU_LLVM", name)
		id := library()
		if other, ok := seen[id]; ok {
			t.Errorf("%q and %q have the same identity %q", name, other, id)
		}
		seen[id] = name
	}
}
