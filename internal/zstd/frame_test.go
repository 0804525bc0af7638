package zstd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// samples are data of many kinds: PTX, noise, one byte, few symbols, long and short matches.
func samples(t testing.TB) map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	few := make([]byte, 200_000)
	var skewed []byte
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for i := range few {
		few[i] = byte(rng.IntN(3))
	}
	for range 200_000 {
		skewed = append(skewed, byte(rng.ExpFloat64()*20))
	}
	var mixed []byte
	for range 400 {
		at := rng.IntN(len(noise) - 2000)
		mixed = append(mixed, noise[at:at+rng.IntN(2000)]...)
		mixed = append(mixed, few[at%1000:at%1000+rng.IntN(50)]...)
	}
	all := map[string][]byte{
		"nothing": {}, "one": {7}, "zeros": make([]byte, 1<<20), "noise": noise, "few": few, "skewed": skewed, "mixed": mixed,
		"repeats": bytes.Repeat(noise[:70_001], 9),
	}
	files, err := filepath.Glob("../shim/cublas/kernels/z*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal("no PTX: ", err)
	}
	for _, f := range files {
		if all[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

var levels = []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression}

func encode(t testing.TB, data []byte, o ...zstd.EOption) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, append(o, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

func TestDecode(t *testing.T) {
	for name, data := range samples(t) {
		for _, level := range levels {
			for _, o := range []zstd.EOption{zstd.WithEncoderCRC(true), zstd.WithSingleSegment(true), zstd.WithZeroFrames(true)} {
				src := encode(t, data, zstd.WithEncoderLevel(level), o, zstd.WithZeroFrames(true))
				got, err := Decode(src, nil, uint64(len(data)))
				if err != nil || !bytes.Equal(got, data) {
					t.Fatalf("%s, %v: %v, %d bytes of %d", name, level, err, len(got), len(data))
				}
				if _, err := Decode(src, nil, uint64(max(len(data), 1)-1)); err == nil && len(data) > 0 {
					t.Errorf("%s: more than the limit", name)
				}
			}
		}
		var stream bytes.Buffer // blocks that use tables of those before
		w, err := zstd.NewWriter(&stream, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk(data, 30_000) {
			if _, err := w.Write(part); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if stream.Len() == 0 {
			continue // nothing was written
		}
		if got, err := Decode(stream.Bytes(), nil, 1<<30); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%s in parts: %v, %d bytes of %d", name, err, len(got), len(data))
		}
	}
}

// TestFrames: several follow each other, and what is to be skipped is.
func TestFrames(t *testing.T) {
	a, b := bytes.Repeat([]byte("kernel "), 100), []byte("end")
	src := slices.Concat(encode(t, a), []byte{0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}, encode(t, b))
	got, err := Decode(src, []byte("at: "), 1<<20)
	if want := "at: " + string(a) + string(b); err != nil || string(got) != want {
		t.Errorf("%v: %q", err, got)
	}
}

func TestDamaged(t *testing.T) {
	data := samples(t)["mixed"]
	src := encode(t, data, zstd.WithEncoderCRC(true))
	for n := 0; n < len(src); n += 1 + len(src)/500 {
		if _, err := Decode(src[:n], nil, 1<<30); err == nil {
			t.Fatalf("%d of %d bytes are enough", n, len(src))
		}
		hurt := bytes.Clone(src)
		hurt[n] ^= 1 << (n % 8)
		if got, err := Decode(hurt, nil, 1<<24); err == nil && !bytes.Equal(got, data) {
			t.Fatalf("byte %d is wrong and nobody saw it", n)
		}
	}
}

// TestHurt: frames without a checksum, a few bits of them wrong, give an error or what another decoder makes of them.
func TestHurt(t *testing.T) {
	other, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for name, data := range samples(t) {
		src := encode(t, data[:min(len(data), 3000)], zstd.WithEncoderCRC(false))
		for range 400 {
			hurt := bytes.Clone(src)
			for range 1 + rng.IntN(3) {
				if len(hurt) > 0 {
					hurt[rng.IntN(len(hurt))] ^= 1 << rng.IntN(8)
				}
			}
			got, err := Decode(hurt, nil, 1<<20)
			want, err2 := other.DecodeAll(hurt, nil)
			if err == nil && err2 == nil && !bytes.Equal(got, want) {
				t.Fatalf("%s: %d bytes, and %d from another decoder: %x", name, len(got), len(want), hurt)
			}
		}
	}
}

// FuzzDecode: what both decoders take is the same, and nothing makes this one fail worse than by an error.
func FuzzDecode(f *testing.F) {
	for name, data := range samples(f) {
		f.Add(encode(f, data[:min(len(data), 5000)], zstd.WithEncoderLevel(levels[len(name)%len(levels)])))
	}
	other, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<20))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := Decode(src, nil, 1<<20)
		want, err2 := other.DecodeAll(src, nil)
		if err == nil && err2 == nil && !bytes.Equal(got, want) {
			t.Errorf("%d bytes, and %d from another decoder", len(got), len(want))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data, err := os.ReadFile("../shim/cublas/kernels/zgemm.ptx")
	if err != nil {
		b.Fatal(err)
	}
	src := encode(b, data)
	other, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func() ([]byte, error){
		"ours":   func() ([]byte, error) { return Decode(src, make([]byte, 0, len(data)+Slack), 1<<30) },
		"theirs": func() ([]byte, error) { return other.DecodeAll(src, make([]byte, 0, len(data))) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if out, err := f(); err != nil || len(out) != len(data) {
					b.Fatal(err, fmt.Sprint(len(out)))
				}
			}
		})
	}
}
