// Package libdouble builds doubles of foreign libraries from their tables: a shared object in C that has every function of an
// *.api file we call, each taking exactly the parameters the table gives it. A call is written down, number by number, and
// answered with success, or with what the test set. So what a caller passes can be compared with what it should have passed,
// by the eyes of a C compiler.
package libdouble

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/dl"
	"kudzu/internal/spec"
)

// Double is a library that was built and opened.
type Double struct {
	Path string
	lib  *dl.Library
}

const prelude = `#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[1 << 20];
static size_t used;
static struct { char name[80]; int status; } answers[64];
static int note(const char *name, int n, const uint64_t *v) {
    int status = 0;
    pthread_mutex_lock(&lock);
    used += snprintf(text + used, sizeof text - used, "%s", name);
    for (int i = 0; i < n && used < sizeof text - 64; i++) used += snprintf(text + used, sizeof text - used, " %llx", (unsigned long long)v[i]);
    used += snprintf(text + used, sizeof text - used, "\n");
    for (int i = 0; i < 64; i++) if (!strcmp(answers[i].name, name)) status = answers[i].status;
    pthread_mutex_unlock(&lock);
    return status;
}
/* What was called since the last time, a line a call. */
size_t kz_take(char *buf, size_t room) {
    pthread_mutex_lock(&lock);
    size_t n = used < room ? used : room;
    memcpy(buf, text, n);
    used = 0;
    pthread_mutex_unlock(&lock);
    return n;
}
/* From now on the function answers this; a name of no length forgets everything. */
void kz_answer(const char *name, int status) {
    pthread_mutex_lock(&lock);
    if (!*name) memset(answers, 0, sizeof answers);
    else for (int i = 0; i < 64; i++)
        if (!answers[i].name[0] || !strcmp(answers[i].name, name)) {
            snprintf(answers[i].name, sizeof answers[i].name, "%s", name);
            answers[i].status = status;
            break;
        }
    pthread_mutex_unlock(&lock);
}
`

// Build makes the double of an interface. Bodies are C for the functions that do something, after the call was written down
// and before it is answered; without are functions that this release of the library does not have.
func Build(t testing.TB, api, soname string, bodies map[string]string, without ...string) *Double {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skipf("no C compiler: %v", err)
	}
	a, err := spec.Load(api)
	if err != nil {
		t.Fatal(err)
	}
	var c strings.Builder
	c.WriteString(prelude)
	scope := a.Scope(13)
	left := map[string]bool{}
	for name := range bodies {
		left[name] = true
	}
	for _, f := range a.Funcs {
		if f.Opaque || contains(without, f.Name) {
			continue
		}
		var params, words []string
		for _, p := range f.Params {
			params = append(params, ctype(t, scope, p.Type)+" p_"+p.Name)
			words = append(words, "(uint64_t)p_"+p.Name)
		}
		if len(params) == 0 {
			params, words = []string{"void"}, []string{"0"}
		}
		fmt.Fprintf(&c, "int %s(%s) {\n    uint64_t v[] = {%s};\n    int status = note(\"%s\", %d, v);\n    if (status) return status;\n    %s\n    return 0;\n}\n",
			f.Name, strings.Join(params, ", "), strings.Join(words, ", "), f.Name, len(f.Params), bodies[f.Name])
		delete(left, f.Name)
	}
	if len(left) > 0 {
		t.Fatalf("%s.api has not all of %v", api, left)
	}
	dir := t.TempDir()
	src, out := filepath.Join(dir, "double.c"), filepath.Join(dir, soname)
	if err := os.WriteFile(src, []byte(c.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(cc, "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", out, src, "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	lib, err := dl.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	return &Double{out, lib}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// ctype is a type as C writes it. Numbers keep their size and sign: what is printed is what the callee sees.
func ctype(t testing.TB, scope *spec.Scope, typ *spec.Type) string {
	if typ.Ptr || scope.Pointer(typ) {
		return "void *"
	}
	size, _, err := scope.Size(typ)
	if err != nil {
		t.Fatal(err)
	}
	if scope.Enum(typ) != nil {
		return "int32_t"
	}
	u := scope.Underlying(typ).Name
	if strings.HasPrefix(u, "u") || u == "size_t" {
		return fmt.Sprintf("uint%d_t", 8*size)
	}
	return fmt.Sprintf("int%d_t", 8*size)
}

// Calls are the calls since the last time: the function and its arguments in hexadecimal.
func (d *Double) Calls(t testing.TB) []string {
	t.Helper()
	f, err := d.lib.Find("kz_take")
	if err != nil {
		t.Fatal(err)
	}
	buf := dl.Alloc(1 << 20)
	defer buf.Free()
	n := f.Call(buf.Addr(), 1<<20)
	text := strings.TrimSuffix(string(buf.Bytes()[:n]), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// Answer makes a function answer a status from now on.
func (d *Double) Answer(t testing.TB, name string, status int) {
	t.Helper()
	f, err := d.lib.Find("kz_answer")
	if err != nil {
		t.Fatal(err)
	}
	buf := dl.Alloc(len(name) + 1)
	defer buf.Free()
	copy(buf.Bytes(), name)
	f.Call(buf.Addr(), uintptr(status))
}

// Sgemm is a body for rocblas_sgemm: the plain product of column-major matrices, whatever alpha and beta are.
const Sgemm = `const float *A = p_A, *B = p_B;
    for (int i = 0; i < p_m; i++)
        for (int j = 0; j < p_n; j++) {
            float s = 0;
            for (int l = 0; l < p_k; l++) s += A[i + l * p_lda] * B[l + j * p_ldb];
            ((float *)p_C)[i + j * p_ldc] = s;
        }`
