package abi

import (
	"errors"
	"strings"
	"testing"
	"unsafe"
)

// fault is a panic that carries an address, as hostmem's and the runtime's do.
type fault struct{}

func (fault) Addr() uintptr { return 8 }

type report struct {
	call  string
	cause any
	stack bool
}

func serve(t *testing.T, start error, calls ...func(thread, args unsafe.Pointer) int32) *[]report {
	t.Helper()
	var list []Handler
	for _, c := range calls {
		list = append(list, Handler{Name: "cuTest", Call: c})
	}
	said := &[]report{}
	old := house
	Serve(House{
		Start:    func() error { return start },
		Handlers: [][]Handler{list},
		Report:   func(call string, cause any, stack []byte) { *said = append(*said, report{call, cause, stack != nil}) },
	})
	t.Cleanup(func() { house = old })
	return said
}

func TestDoor(t *testing.T) {
	var null *int
	rows := []struct {
		name  string
		call  func(thread, args unsafe.Pointer) int32
		want  int32
		stack bool
		said  int
	}{
		{"answer", func(_, _ unsafe.Pointer) int32 { return 42 }, 42, false, 0},
		{"arguments", func(thread, args unsafe.Pointer) int32 { return *(*int32)(thread) + *(*int32)(args) }, 12, false, 0},
		{"panic", func(_, _ unsafe.Pointer) int32 { panic("BUG") }, unknown, true, 1},
		{"nil dereference", func(_, _ unsafe.Pointer) int32 { return int32(*null) }, unknown, true, 1},
		{"typed address", func(_, _ unsafe.Pointer) int32 { panic(fault{}) }, invalidValue, false, 1},
	}
	for _, r := range rows {
		said := serve(t, nil, r.call)
		a, b := int32(5), int32(7)
		if got := kzDoor(unsafe.Pointer(&a), 0, unsafe.Pointer(&b)); int32(got) != r.want {
			t.Errorf("%s: answer %d, want %d", r.name, got, r.want)
		}
		if len(*said) != r.said || (r.said > 0 && ((*said)[0].call != "cuTest" || (*said)[0].stack != r.stack)) {
			t.Errorf("%s: reports %v", r.name, *said)
		}
	}
}

// TestBadAddress: memory that nobody has is an error of the program, not its end.
func TestBadAddress(t *testing.T) {
	said := serve(t, nil, func(_, args unsafe.Pointer) int32 {
		p := *(**byte)(args)
		return int32(*p)
	})
	bad := uintptr(0x7f0000000001)
	if got := int32(kzDoor(nil, 0, unsafe.Pointer(&bad))); got != invalidValue {
		t.Errorf("answer %d, want %d", got, invalidValue)
	}
	if len(*said) != 1 || !strings.Contains((*said)[0].cause.(string), "bad address 0x7f0000000001") {
		t.Errorf("reports %v", *said)
	}
}

func TestUnknownNumber(t *testing.T) {
	serve(t, nil)
	if got := int32(kzDoor(nil, 0, nil)); got != notSupported {
		t.Errorf("answer %d, want %d", got, notSupported)
	}
}

func TestStart(t *testing.T) {
	const start = 0xffffffff
	serve(t, nil)
	if got := kzDoor(nil, start, nil); got != 0 {
		t.Errorf("answer %d", got)
	}
	said := serve(t, errors.New("no room"))
	if got := kzDoor(nil, start, nil); got == 0 || len(*said) != 1 {
		t.Errorf("answer %d, reports %v", got, *said)
	}
}
