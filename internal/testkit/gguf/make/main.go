// Command make writes a test model: go run ./internal/testkit/gguf/make -shape 15M -quant Q4_K -o model.gguf
package main

import (
	"flag"
	"fmt"
	"os"

	"kudzu/internal/testkit/gguf"
)

func main() {
	shape := flag.String("shape", "15M", "15M or 1.1B")
	quant := flag.String("quant", "F16", "a type of llama.cpp, or Q4_K_M")
	seed := flag.Uint64("seed", 1, "what the weights come from")
	out := flag.String("o", "model.gguf", "the file")
	flag.Parse()
	if err := run(*shape, *quant, *seed, *out); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

func run(shape, quant string, seed uint64, out string) error {
	s, ok := gguf.Shapes[shape]
	if !ok {
		return fmt.Errorf("no shape is called %q", shape)
	}
	if quant == "Q4_K_M" {
		s.Mix, quant = "M", "Q4_K"
	}
	q, ok := gguf.ByName(quant)
	if !ok {
		return fmt.Errorf("no quantisation is called %q", quant)
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := gguf.Write(f, s, q, seed); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
