package cublas

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/hostmem"
)

// TestUint8gemmBias: the bytes are an H200's (testdata/h200_bytes.txt, which testdata/record.c wrote, with the same numbers).
func TestUint8gemmBias(t *testing.T) {
	text, err := os.ReadFile("testdata/h200_bytes.txt")
	if err != nil {
		t.Fatal(err)
	}
	sizes := [][3]int64{{4, 4, 4}, {8, 8, 16}, {16, 12, 20}, {5, 3, 7}, {32, 32, 32}}
	onDevice(t, func(r *rig) {
		known := 0
		for line := range strings.Lines(string(text)) {
			var ops string
			var m, n, k, st, sync int64
			var biasA, biasB, biasC, mult, shift int32
			head, values, _ := strings.Cut(strings.TrimSpace(line), " cuda 0")
			if _, err := fmt.Sscanf(head, "Uint8gemmBias %s %d %d %d bias %d %d %d mult %d shift %d : status %d", &ops, &m, &n, &k, &biasA, &biasB, &biasC, &mult, &shift, &st); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			known++
			state, scale := uint64(900+slices.Index(sizes, [3]int64{m, n, k})), 8.0
			if biasA != 0 && biasA != -3 {
				scale = 127.5
			}
			var at [3]hostmem.Ptr
			for i := range at {
				x := r.empty(S8, 32*32)
				at[i] = x.p
				for b := range hostmem.Bytes(x.p, 32*32) {
					state = state*6364136223846793005 + 1442695040888963407
					hostmem.Bytes(x.p, 32*32)[b] = byte(int((float64(int64(state>>44))/524288 - 1 + 1) * scale))
				}
			}
			op := func(i int) Op { return Op(ops[i] - '0') }
			r.ok(r.th.Uint8gemmBias(r.h, op(0), op(1), op(2), m, n, k, at[0], biasA, 32, at[1], biasB, 32, at[2], biasC, 32, mult, shift))
			r.sync()
			rows, cols := m, n
			if ops[2] == '1' {
				rows, cols = n, m
			}
			var got []string
			for j := range min(cols, 4) {
				for i := range min(rows, 8) {
					got = append(got, fmt.Sprint(hostmem.Bytes(at[2], 32*32)[i+j*32]))
				}
			}
			if sync = 0; !slices.Equal(got, strings.Fields(values)) || st != sync {
				t.Fatalf("%s: %v", line, got)
			}
		}
		if known != 180 {
			t.Errorf("%d results", known)
		}
		r.is(r.th.Uint8gemmBias(r.h, 0, 0, 0, 4, 4, 4, 0, 0, 3, 0, 0, 4, 0, 0, 4, 1, 0), invalidValue)
		r.is(r.th.Uint8gemmBias(r.h, 3, 0, 0, 4, 4, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4, 1, 0), invalidValue)
		r.is(r.th.Uint8gemmBias(0, 0, 0, 0, 4, 4, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4, 1, 0), notInitialized)
	})
}
