package main

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// decode is the generic ABI's own description of the form.
func decode(words []uint64) []uint64 {
	var places []uint64
	next := uint64(0)
	for _, w := range words {
		if w&1 == 0 {
			places = append(places, w)
			next = w + word
			continue
		}
		for i := range uint64(63) {
			if w>>(i+1)&1 != 0 {
				places = append(places, next+i*word)
			}
		}
		next += 63 * word
	}
	return places
}

func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, gap := range []int{1, 2, 60, 64, 1000} {
		at, places := uint64(4096), []uint64{}
		for range 5000 {
			at += word * uint64(1+r.IntN(gap))
			places = append(places, at)
		}
		words := encode(places)
		if got := decode(words); !slices.Equal(got, places) {
			t.Errorf("gaps of up to %d words: %d places come back as %d", gap, len(places), len(got))
		}
		if gap == 1 && len(words) > len(places)/60 {
			t.Errorf("%d words for %d neighbours", len(words), len(places))
		}
	}
	if len(encode(nil)) != 0 {
		t.Error("words for nothing")
	}
}

const table = `#include <stdio.h>
static int x[3000];
int *const all[] = {%s};
int *variable = &x[7];
int main_of_it(void) {
	for (int i = 0; i < 3000; i++)
		if (all[i] != &x[i]) return printf("all[%%d] is %%p, not %%p\n", i, (void *)all[i], (void *)&x[i]), 1;
	return variable != &x[7];
}
`

// TestLibrary packs a library that has the image's own constructor, and has a program use it: without the constructor's work every
// pointer in it would be wrong, and with the loader's as well.
func TestLibrary(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	dir := t.TempDir()
	var list bytes.Buffer
	for i := range 3000 {
		list.WriteString("&x[" + strconv.Itoa(i) + "],")
	}
	write(t, dir, "table.c", string(bytes.ReplaceAll(bytes.ReplaceAll([]byte(table), []byte("%s"), list.Bytes()), []byte("%%"), []byte("%"))))
	write(t, dir, "main.c", "int main_of_it(void);\nint main(void) { return main_of_it(); }\n")
	relocate, err := filepath.Abs("../relocate.c")
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "cc", "-shared", "-fPIC", "-O1", "-Wl,-z,now,-z,relro", "-o", "libtable.so", "table.c", relocate)
	run(t, dir, "cc", "-o", "main", "main.c", "-L.", "-l:libtable.so", "-Wl,-rpath,$ORIGIN")
	lib := filepath.Join(dir, "libtable.so")
	before := relatives(t, lib)
	if before < 3001 {
		t.Fatalf("%d relative relocations", before)
	}
	run(t, dir, "./main")
	if err := rewrite(lib); err != nil {
		t.Fatal(err)
	}
	if after := relatives(t, lib); after > 8 {
		t.Errorf("%d relative relocations are still the loader's, of %d", after, before)
	}
	run(t, dir, "./main")
	packed, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	if err := rewrite(lib); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(lib); err != nil || !bytes.Equal(again, packed) {
		t.Errorf("a packed library is packed again: %v", err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// relatives counts the relative relocations that the loader would see.
func relatives(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	o := &object{b: b, f: f, at: map[elf.DynTag]int{}}
	if err := o.readDynamic(); err != nil {
		t.Fatal(err)
	}
	start, err := o.value(elf.DT_RELA)
	if err != nil {
		t.Fatal(err)
	}
	size, err := o.value(elf.DT_RELASZ)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := o.bytesAt(start, size)
	if err != nil {
		t.Fatal(err)
	}
	relative, err := o.relative()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := 0; i+relaSize <= len(rows); i += relaSize {
		if uint32(le.Uint64(rows[i+8:])) == relative {
			n++
		}
	}
	return n
}
