package texels

import (
	"encoding/binary"
	"flag"
	"math"
	"os"
	"testing"

	"kudzu/internal/bcn"
)

const blockRecording = "../../../testdata/isa/blocks.gz"

var (
	blockJobs = flag.String("blocks", "", "write the jobs on compressed blocks to this file, for record.c")
	blockPack = flag.String("packblocks", "", "make their recording of this file, which record.c wrote")
)

// TestBlocks: every texel of the recorded blocks is decoded to what the hardware read. A view has no alpha where the format has none;
// an array of the format has 1 (transcript array_blocks_read).
func TestBlocks(t *testing.T) {
	jobs := BlockJobs()
	if *blockJobs != "" {
		if err := os.WriteFile(*blockJobs, Write(jobs), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if *blockPack != "" {
		b, err := os.ReadFile(*blockPack)
		if err == nil {
			b, err = Pack(jobs, b)
		}
		if err == nil {
			err = os.WriteFile(blockRecording, b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(blockRecording)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := Unpack(jobs, f)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		code := BlockFormats[i].Code
		bad := 0
		for k := range j.Threads() {
			x, y := int(j.Words[2*k]), int(j.Words[2*k+1])
			block := j.Data[(y/bcn.Side*blocksWide+x/bcn.Side)*code.Bytes():]
			var all bcn.Texels
			code.Decode(block[:code.Bytes()], &all)
			texel := all[y%bcn.Side*bcn.Side+x%bcn.Side]
			for c := range 4 {
				hw := math.Float32frombits(binary.LittleEndian.Uint32(rec[j][8+16*k+4*c:]))
				if c == 3 && code >= bcn.BC4 && code <= bcn.BC6HSigned {
					continue
				}
				if got := channel(code, texel[c]); got != hw {
					if bad++; bad < 4 {
						t.Errorf("%s: block %x at %d,%d channel %d is %v, hardware %v", j.Name, block[:code.Bytes()], x, y, c, got, hw)
					}
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d channels differ", j.Name, bad)
		}
	}
}

// channel is a channel as kernels read it.
func channel(code bcn.Format, v uint16) float32 {
	switch code {
	case bcn.BC4, bcn.BC5:
		return float32(float64(v) / 65535)
	case bcn.BC4Signed, bcn.BC5Signed:
		return float32(float64(int16(v)) / 32767)
	case bcn.BC6H, bcn.BC6HSigned:
		e, m := int(v>>10&31), float64(v&0x3ff)
		f := math.Ldexp(m, -24)
		if e > 0 {
			f = math.Ldexp(1024+m, e-25)
		}
		if v&0x8000 != 0 {
			f = -f
		}
		return float32(f)
	}
	return float32(float64(v) / 255)
}
