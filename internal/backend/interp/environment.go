package interp

import (
	"fmt"
	"io"

	"kudzu/internal/backend"
	"kudzu/internal/lockrank"
)

// Heap is where device malloc takes memory from.
type Heap interface {
	Alloc(n, align uint64) (backend.Addr, error)
	Free(backend.Addr) error
}

// environment is what a launch sees of the device.
type environment struct {
	space      Space
	heap       Heap
	processors int
	consts     []view // constant variables of the module

	mu  *lockrank.Mutex[lockrank.InterpOutput] // of the writers
	out io.Writer                              // printf
	err io.Writer                              // assertions
}

// isConst reports whether an address is of a constant variable.
func (e *environment) isConst(addr uint64) bool {
	for _, v := range e.consts {
		if addr-v.base < v.size {
			return true
		}
	}
	return false
}

// print writes what a thread printed; a closed stdout is the program's business, as on a GPU.
func (e *environment) print(s string) { e.write(e.out, s) }

// complain writes an assertion.
func (e *environment) complain(s string) { e.write(e.err, s) }

func (e *environment) write(w io.Writer, s string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = io.WriteString(w, s)
}

func sprint(v any) string { return fmt.Sprint(v) }
