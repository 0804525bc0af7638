package abi

/*
extern char **environ;
static char **kz_environ(void) { return environ; }
*/
import "C"

import (
	"os"
	"strings"
	"unsafe"
)

// HostEnv makes Go see the environment as the program has it now. A shared library is given the one that the process started
// with; what the program has set since, as setenv and Python's os.environ do before the first call, is in C's alone.
func HostEnv() {
	now := map[string]string{}
	for p := C.kz_environ(); p != nil && *p != nil; p = (**C.char)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p))) {
		k, v, ok := strings.Cut(C.GoString(*p), "=")
		if _, twice := now[k]; ok && k != "" && !twice { // getenv finds the first
			now[k] = v
		}
	}
	for k, v := range now {
		if old, ok := os.LookupEnv(k); (!ok || old != v) && k != "GODEBUG" { // which would change our own runtime
			os.Setenv(k, v)
		}
	}
	for _, s := range os.Environ() {
		k, _, _ := strings.Cut(s, "=")
		if _, ok := now[k]; !ok {
			os.Unsetenv(k)
		}
	}
}
