package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"kudzu/internal/spec"
)

// TestLocal: a new row changes lines of its own and nothing else, and few files. Two sums of the page of coverage, those of its
// chapter and of its library, are the only lines of others that change.
func TestLocal(t *testing.T) {
	was := current(t)
	rows := []struct {
		api, before, row string
		file, method     string // where the row's method is
		files, lines     int    // how many generated ones change at most
		name             string // what is in every line that is the row's own, except in the bodies of functions
	}{
		{"cuda", "cuDeviceGetCount(", "cuDeviceLocal(out count *int, in dev CUdevice) CUresult since 13.0", "internal/driver/local.go",
			"package driver\n\nfunc (t *Thread) DeviceLocal(d int32) (int32, error) {\n\ts, err := t.enter()\n\treturn int32(len(s.devices)) + d, err\n}\n",
			5, 28, "cuDeviceLocal"}, // cudaTypedefs.h has two types of every function of the driver: with its release and without
		{"cudart", "cudaStreamCreate(", "cudaStreamLocal(in hStream cudaStream_t, out n *int) cudaError_t ptsz 12.0", "internal/cudart/local.go",
			"package cudart\n\nfunc (t *Thread) StreamLocal(s uint64) (int32, error) {\n\td, err := t.ready()\n\treturn int32(d.Device), err\n}\n",
			4, 36, "cudaStreamLocal"},
		{"cublas", "cublasSaxpy_v2(", "cublasLocal(in handle cublasHandle_t, in n int) cublasStatus_t", "internal/shim/cublas/local.go",
			"package cublas\n\nfunc (t *Thread) Local(h uint64, n int32) error {\n\t_, err := t.handle(h)\n\treturn err\n}\n",
			4, 29, "cublasLocal"},
		{"cublas", "cublasSaxpy_v2(", "cublasLocalAxpy(in handle cublasHandle_t, in n int, host alpha *const __half, host x *const __half, in incx int, host y *__half, in incy int) cublasStatus_t go=Axpy(F16)",
			"", "", // the family has it
			4, 34, "cublasLocalAxpy"},
	}
	for _, r := range rows {
		now := generated(t, func(w *world) {
			text, err := os.ReadFile("../../internal/spec/" + r.api + ".api")
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(text), "\n"+r.before) != 1 {
				t.Fatalf("%s.api has no row %s", r.api, r.before)
			}
			api, err := spec.Parse(r.api, strings.Replace(string(text), "\n"+r.before, "\n"+r.row+"\n"+r.before, 1))
			if err != nil {
				t.Fatal(err)
			}
			w.apis[r.api] = api
			if r.file != "" {
				w.files[r.file] = []byte(r.method)
			}
		})
		delete(now, r.file)
		files, lines := 0, 0
		for _, path := range sortedKeys(now) {
			gone, come := difference(t, string(was[path]), string(now[path]))
			if len(gone)+len(come) == 0 {
				continue
			}
			files++
			lines += len(gone) + len(come)
			t.Logf("%s: %s: %d lines go, %d come", r.name, path, len(gone), len(come))
			for _, line := range gone {
				if !sum.MatchString(line) {
					t.Errorf("%s: %s: a line of another row changed: %s", r.name, path, line)
				}
			}
			if strings.HasSuffix(path, ".go") {
				continue // the function that unpacks the arguments
			}
			for _, line := range come {
				if !sum.MatchString(line) && !strings.Contains(line, r.name) {
					t.Errorf("%s: %s: a line that is not the row's: %s", r.name, path, line)
				}
			}
		}
		if files > r.files || lines > r.lines {
			t.Errorf("%s changes %d lines in %d files, want at most %d in %d", r.name, lines, files, r.lines, r.files)
		}
		if len(now) != len(was) {
			t.Errorf("%s: %d files were %d", r.name, len(now), len(was))
		}
	}
}

// sum matches the lines of the page of coverage that count.
var sum = regexp.MustCompile(`^## lib.*: \d+ of \d+: |^\| [^|]* \| \d+ \| \d+ \| \d+ \|`)

var once = sync.OnceValues(func() (map[string][]byte, error) {
	w, err := load("../..")
	if err != nil {
		return nil, err
	}
	return w.files, w.generate()
})

// current is what the generator writes today.
func current(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// generated is what the generator writes when the tables are changed first.
func generated(t *testing.T, change func(*world)) map[string][]byte {
	t.Helper()
	w, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	change(w)
	if err := w.generate(); err != nil {
		t.Fatal(err)
	}
	return w.files
}

// difference is the lines that go and that come. All other lines must have kept their order.
func difference(t *testing.T, from, to string) (gone, come []string) {
	t.Helper()
	a, b := strings.Split(from, "\n"), strings.Split(to, "\n")
	more := map[string]int{}
	for _, line := range b {
		more[line]++
	}
	for _, line := range a {
		more[line]--
	}
	for line, n := range more {
		for ; n > 0; n-- {
			come = append(come, line)
		}
		for ; n < 0; n++ {
			gone = append(gone, line)
		}
	}
	changed := func(line string) bool { return more[line] != 0 }
	if !slices.Equal(slices.DeleteFunc(a, changed), slices.DeleteFunc(b, changed)) {
		t.Error("lines changed places")
	}
	return gone, come
}

// TestNumbers: a stub gives the door the place of its row among the rows that Go answers, and there is its handler.
func TestNumbers(t *testing.T) {
	files := current(t)
	w, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^GO\([^,]*, (\w+),`)
	handler := regexp.MustCompile(`(?m)^\t\{Name: "(\w+)", Call: (?:bind_(\w+)|stand_\w+)\},$`)
	for _, h := range w.houses() {
		var rows, handlers []string
		for _, m := range row.FindAllSubmatch(files["internal/abi/"+rowsFile(h.api)], -1) {
			rows = append(rows, string(m[1]))
		}
		for _, m := range handler.FindAllSubmatch(files["internal/bind/zbind_"+h.api+".go"], -1) {
			handlers = append(handlers, string(m[1]))
			if len(m[2]) > 0 && string(m[1]) != string(m[2]) { // what stands in does so for many
				t.Errorf("%s is served by bind_%s", m[1], m[2])
			}
		}
		if len(rows) == 0 || !slices.Equal(rows, handlers) {
			t.Errorf("%s: %d rows and %d handlers are not the same", h.api, len(rows), len(handlers))
		}
	}
}

// TestNewLibrary: a table and a room are all that a library needs; of the files that are there only those change that list all
// libraries, and in them no line of another's.
func TestNewLibrary(t *testing.T) {
	was := current(t)
	now := generated(t, func(w *world) {
		api, err := spec.Parse("cuten", "about ten\nlibrary libcuten.so versions 12,13 package ten status cutenResult null 3 unsupported 11 child 11 exit 11\n"+
			"enum cutenResult\n\tCUTEN_SUCCESS = 0 \"fine\"\n"+
			"cutenOne(out a *int) cutenResult\ncutenTwo(in p *void) cutenResult\ncutenThree(in a int) cutenResult since 13\n")
		if err != nil {
			t.Fatal(err)
		}
		w.apis["cuten"] = api
		w.files["internal/shim/cuten/ten.go"] = []byte("package cuten\n\nimport \"kudzu/internal/driver\"\n\ntype Thread driver.Thread\n\n" +
			"func (t *Thread) One() (int32, error) { return 1, nil }\n\nfunc (t *Thread) Three(a int32) error { return nil }\n")
	})
	lists := map[string]bool{"c/audit/zsonames.h": true, "c/base/zcodes.h": true, "c/base/zerror.c": true, "c/base/zlibraries.c": true, "c/base/ztable.h": true, "c/front/zlibraries.txt": true,
		"docs/zcoverage_cuda.md": true, "internal/abi/zstubs.c": true, "internal/bind/zhandlers.go": true}
	more := 0
	for path := range now {
		if was[path] == nil {
			more++
			continue
		}
		gone, _ := difference(t, string(was[path]), string(now[path]))
		if string(was[path]) != string(now[path]) && !lists[path] {
			t.Errorf("%s changes", path)
		}
		for _, line := range gone {
			if !strings.HasPrefix(line, "#define KZ_") && !strings.Contains(line, "kz_hash") { // numbers and lists of all of them
				t.Errorf("%s: a line of another library changed: %s", path, line)
			}
		}
	}
	for path, part := range map[string]string{
		"c/front/zfront_cuten12.S": "KZ_IN KZ_V12", "c/front/zfront_cuten13.map": "libcuten.so.13 {", "include/cuten.h": "cutenResult cutenOne(int *a);",
		"internal/abi/zrows_cuten.h": "GO(KZ_V13, cutenThree,", "internal/bind/zbind_cuten.go": "return 3\n", "c/front/zlibraries.txt": "cuten12 libcuten.so.12\n",
	} {
		if !strings.Contains(string(now[path]), part) {
			t.Errorf("%s has no %s", path, part)
		}
	}
	t.Logf("%d new files", more)
}
