package c

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestFirstBlas: cuBLAS's first interface and cublasXt compute what a plain sum does, all functions of each in four types, with every major
// version and on several devices. The program compares; it is the one that recorded an H200's answers, which it must come near to.
func TestFirstBlas(t *testing.T) {
	libs := dist(t)
	for _, row := range []struct{ major, devices string }{{"13", "1"}, {"12", "3"}} {
		stdout, stderr, err := run(t, libs, []string{"KUDZU_DEVICES=" + row.devices}, firstBlas(t, row.major))
		if err != nil || !strings.HasSuffix(stderr, " results, all as computed\n") {
			t.Errorf("libcublas.so.%s on %s devices: %v\n%s", row.major, row.devices, err, stderr)
		}
		likeH200(t, strings.Split(stdout, "\n"))
	}
}

func firstBlas(t *testing.T, major string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "record"+major)
	cc(t, "-std=gnu11", "-O1", "-Wall", "-Wno-misleading-indentation", filepath.Join(root(t), "internal/shim/cublas/testdata/record.c"), "-o", exe,
		"-L"+dist(t), "-l:libcublas.so."+major, "-l:libcudart.so."+major, "-lm", "-lpthread")
	return exe
}

// likeH200 compares the program's lines with those recorded on an H200 (testdata/h200_first.txt.gz): texts and statuses are the same,
// results within 256 units of the type's rounding, of numbers of the line's size.
func likeH200(t *testing.T, got []string) {
	t.Helper()
	text := bytes.NewReader(unpacked(t, "internal/shim/cublas/testdata/h200_first.txt.gz"))
	n := 0
	for s := bufio.NewScanner(text); s.Scan(); n++ {
		if n >= len(got) {
			t.Fatalf("%d lines, on an H200 more", n)
		}
		if strings.Contains(s.Text(), " status 15 :") { // spmm of device memory, which we do
			continue
		}
		name, want, _ := strings.Cut(s.Text(), " : ")
		ours, values, _ := strings.Cut(got[n], " : ")
		if name != ours || !alike(strings.Fields(want), strings.Fields(values), name) {
			t.Fatalf("line %d: %q\non an H200: %q", n+1, got[n], s.Text())
		}
	}
	if n < 3700 {
		t.Errorf("%d recorded lines", n)
	}
}

func alike(want, got []string, name string) bool {
	if len(want) != len(got) {
		return false
	}
	unit := 0x1p-24
	if of := strings.TrimPrefix(strings.TrimPrefix(name, "Xt"), "Device"); strings.HasPrefix(of, "D") || strings.HasPrefix(of, "Z") {
		unit = 0x1p-53
	}
	size := 1.0
	for _, w := range want {
		if v, err := strconv.ParseFloat(w, 64); err == nil {
			size = max(size, math.Abs(v))
		}
	}
	for i, w := range want {
		a, err1 := strconv.ParseFloat(w, 64)
		b, err2 := strconv.ParseFloat(got[i], 64)
		if (err1 != nil || err2 != nil) && w != got[i] || !(math.Abs(a-b) <= 256*unit*size) {
			return false
		}
	}
	return true
}

// misuseOpen are calls of testdata/misuse.inc that we answer otherwise than an H200, beside those that crash it.
var misuseOpen = map[string]string{}

// TestFirstBlasMisuse: statuses of calls that make no sense are an H200's.
func TestFirstBlasMisuse(t *testing.T) {
	exe, libs := firstBlas(t, "13"), dist(t)
	text, err := os.ReadFile(filepath.Join(root(t), "internal/shim/cublas/testdata/h200_first_misuse.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	room := make(chan bool, 4)
	for line := range strings.Lines(string(text)) {
		number, answer, _ := strings.Cut(strings.TrimRight(line, "|\n"), " ")
		parts := strings.Split(answer, "|")
		want := parts[len(parts)-1] // what is before it are messages
		if strings.HasPrefix(want, "crash") || misuseOpen[number] != "" {
			continue
		}
		wait.Go(func() {
			room <- true
			defer func() { <-room }()
			stdout, _, err := run(t, libs, nil, exe, "misuse", number)
			if got := strings.TrimSpace(stdout); err != nil || got != want {
				t.Errorf("%s: %v %s\non an H200 %s", number, err, got, want)
			}
		})
	}
	wait.Wait()
}

// TestFirstBlasRatio: the program's own routine does the rows of cublasXt's product that it did on an H200.
func TestFirstBlasRatio(t *testing.T) {
	exe, libs := firstBlas(t, "13"), dist(t)
	text, err := os.ReadFile(filepath.Join(root(t), "internal/shim/cublas/testdata/h200_ratio.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{} // there is none for the ratio of 1
	for line := range strings.Lines(string(text)) {
		name, answer, _ := strings.Cut(strings.TrimSpace(line), " : ")
		want[name] = answer
	}
	for i := range 21 {
		stdout, stderr, err := run(t, libs, nil, exe, "ratio", strconv.Itoa(i))
		name, got, _ := strings.Cut(strings.TrimSpace(stdout), " : ")
		if w, ok := want[name]; err != nil || ok && got != w {
			t.Errorf("%s: %v %s\non an H200 %s\n%s", name, err, got, w, stderr)
		}
		delete(want, name)
	}
	if len(want) != 0 {
		t.Errorf("only on an H200: %v", want)
	}
}
