package hostmem

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
)

func TestValues(t *testing.T) {
	var buf [64]byte
	p := Of(&buf[0])
	Store(p.Add(3), uint64(0x0123456789abcdef))
	if got := Load[uint64](p.Add(3)); got != 0x0123456789abcdef {
		t.Errorf("unaligned load = %#x", got)
	}
	*At[uint32](p.Add(16)) = 7
	if got := Slice[uint32](p, 8)[4]; got != 7 {
		t.Errorf("slice element = %d, want 7", got)
	}
	if Bytes(Nil, 0) != nil || Slice[uint64](Nil, 0) != nil {
		t.Error("an empty view is not nil")
	}
}

func TestStrings(t *testing.T) {
	long := []byte(strings.Repeat("x", 9000) + "\x00tail")
	if got := String(Of(&long[0])); len(got) != 9000 {
		t.Errorf("string of %d bytes, want 9000", len(got))
	}
	var buf [4]byte
	PutString(Of(&buf[0]), len(buf), "kudzu")
	if got := string(buf[:]); got != "kud\x00" {
		t.Errorf("cut string = %q", got)
	}
	PutString(Nil, 0, "nothing") // no room: nothing is touched
}

func TestFaults(t *testing.T) {
	unending := []byte("no end")
	for name, fn := range map[string]func(){
		"nil bytes":        func() { Bytes(Nil, 1) },
		"nil string":       func() { _ = String(Nil) },
		"first page":       func() { Store(Ptr(8), 1) },
		"huge view":        func() { Bytes(1, 1<<60) },
		"huge slice":       func() { Slice[uint64](1, 1<<60) },
		"negative slice":   func() { Slice[uint64](1, -1) },
		"string too long":  func() { StringN(Of(&unending[0]), len(unending)) },
		"nil store":        func() { Store(Nil, 1) },
		"nil destination":  func() { PutString(Nil, 8, "x") },
		"nil single value": func() { At[int](Nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if _, ok := recover().(Fault); !ok {
					t.Error("no Fault")
				}
			}()
			fn()
		})
	}
}

func TestText(t *testing.T) {
	for _, n := range []int{0, 1, 4097, 9 << 20} {
		b := make([]byte, n+1)
		for i := range b {
			b[i] = byte(i * 7 >> 3)
		}
		want := string(b[:n])
		got := Text(Of(&b[0]), uint64(n))
		clear(b)
		if got != want {
			t.Errorf("a text of %d bytes is not a copy", n)
		}
	}
}

// TestTextLen: the end is a NUL, or the last byte before a page that may not be read; nothing behind either is touched.
func TestTextLen(t *testing.T) {
	page := os.Getpagesize()
	m, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	for i := range m {
		m[i] = 'x'
	}
	if err := syscall.Mprotect(m[3*page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	end := 3 * page
	for _, at := range []int{0, 1, page - 1, page, 2*page + 7, end - 8, end - 1} {
		if n := TextLen(Of(&m[at]), 1<<30); n != uint64(end-at) {
			t.Errorf("%d bytes before the end: %d", end-at, n)
		}
		if n := TextLen(Of(&m[at]), 3); n != uint64(min(3, end-at)) {
			t.Errorf("%d bytes before the end, at most 3: %d", end-at, n)
		}
	}
	m[end-1], m[page] = 0, 0
	for at, want := range map[int]uint64{0: uint64(page), page: 0, page + 1: uint64(2*page - 2), end - 1: 0} {
		if n := TextLen(Of(&m[at]), 1<<30); n != want {
			t.Errorf("at %d: %d, want %d", at, n, want)
		}
	}
	defer func() {
		if r := recover(); r == nil {
			t.Error("a text that cannot be read at all has a length")
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	TextLen(Of(&m[0])+Ptr(end), 1<<30)
}

// TestOfStays: a value whose address was taken stays where it is when its goroutine's stack moves.
func TestOfStays(t *testing.T) {
	got := make(chan int)
	go func() {
		x := 1
		p := Of(&x)
		deep(1000)
		Store(p, 2)
		got <- x
	}()
	if x := <-got; x != 2 {
		t.Errorf("a value that was written through its address is %d", x)
	}
}

// TestOfKeeps: the collector does not take a value whose address is all that is left of it.
func TestOfKeeps(t *testing.T) {
	gone := make(chan bool, 1)
	v := new([100]int)
	runtime.AddCleanup(v, func(c chan bool) { c <- true }, gone)
	p := Of(v)
	v = nil
	for range 3 {
		runtime.GC()
	}
	if len(gone) != 0 {
		t.Errorf("the value at %#x is gone", p)
	}
}

// deep uses a lot of stack.
//
//go:noinline
func deep(n int) byte {
	var b [256]byte
	if n > 0 {
		b[n%256] = deep(n - 1)
	}
	return b[(n+1)%256]
}

func TestAs(t *testing.T) {
	if v := As[[2]uint32](uint64(7<<32 | 5)); v != [2]uint32{5, 7} {
		t.Error(v)
	}
}
