package worker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kudzu/internal/compile"
	"kudzu/internal/llvm"
	"kudzu/internal/ptx"
)

// FuzzFront: of any text, every kernel becomes LLVM text for a block shape, or is refused with a reason; no pass and no
// emitter panics.
func FuzzFront(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/cases/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if _, text, ok := strings.Cut(string(data), "-- kernel.ptx --\n"); ok {
			text, _, _ = strings.Cut(text, "\n-- ")
			f.Add(text, uint8(0))
		}
	}
	f.Add(saxpyPTX(f), uint8(1))
	shapes := [][3]uint32{{}, {32, 1, 1}, {256, 1, 1}, {16, 8, 2}, {1, 1, 1}, {33, 1, 1}}
	f.Fuzz(func(t *testing.T, text string, shape uint8) {
		if len(text) > 1<<14 {
			return
		}
		m, err := ptx.ParseModule(text)
		if err != nil {
			return
		}
		for _, fn := range m.Funcs {
			if fn.Kind != ptx.Entry || fn.Body == nil {
				continue
			}
			req := &compile.Request{PTX: text, Kernel: fn.Name, Block: shapes[int(shape)%len(shapes)]}
			_, err := fromPTX(req, llvm.Options{Triple: "x86_64-unknown-linux-gnu", CPU: "x86-64-v3"}, newClock(), map[string]string{})
			var bad *compile.PTXError
			var not *compile.Unsupported
			if err != nil && !errors.As(err, &bad) && !errors.As(err, &not) {
				t.Fatalf("%s: %v", fn.Name, err)
			}
		}
	})
}
