package testkit

import "testing"

// TestAppFastPath: calls that C makes without Go answer what they answer through Go, and keep the order of streams.
func TestAppFastPath(t *testing.T) {
	exe := appProgram(t, "app_fastpath")
	slow := newApp(t, "cpu", exe, "codes", "go").run()
	fast := newApp(t, "cpu", exe, "codes").run()
	if slow.code != 0 || slow.stdout != fast.stdout || slow.stderr != fast.stderr {
		t.Errorf("through Go (%v):\n%s%s\nwithout (%v):\n%s%s", slow.err, slow.stdout, slow.stderr, fast.err, fast.stdout, fast.stderr)
	}
	newApp(t, "cpu", exe, "order", "go").run().want(t, "ok\n")
	newApp(t, "cpu", exe, "order").run().want(t, "ok\n")
}

// TestAppFastLibrary: calls of cuBLAS and cuSOLVER that C makes without Go answer and compute what they do through Go.
func TestAppFastLibrary(t *testing.T) {
	exe := appProgram(t, "app_fastlibrary", "-l:libcublas.so.12", "-l:libcusolver.so.11", "-l:libcudart.so.12")
	slow := newApp(t, "cpu", exe, "go").run()
	fast := newApp(t, "cpu", exe).run()
	if slow.code != 0 || slow.stdout != fast.stdout || slow.stderr != fast.stderr {
		t.Errorf("through Go (%v):\n%s%s\nwithout (%v):\n%s%s", slow.err, slow.stdout, slow.stderr, fast.err, fast.stdout, fast.stderr)
	}
}
