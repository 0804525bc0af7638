package check

import (
	"testing"

	"kudzu/internal/ptx/isa/spell"
)

func BenchmarkParseAndCheck(b *testing.B) {
	text := spell.LargeModule(4 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Text(text); err != nil {
			b.Fatal(err)
		}
	}
}
