package c

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call is a call of a trace, read by a few lines of our own: the tests of the recorder need no reader of the product.
type call struct {
	lib, name string
	tid       uint32
	depth     uint32
	id        uint64
	t0, t1    uint64
	result    uint64
	args      []uint64
	blobs     []blob
}

type blob struct {
	arg, what byte
	flags     uint16
	data      string
}

// event is an event, or a module, of a trace.
type event struct {
	kind, what uint16
	call       uint64
	values     [4]uint64
	text       string
}

// recording is one file of a trace.
type recording struct {
	pid    uint32
	flags  uint32
	lost   uint32
	calls  []call // in the order of their numbers, by thread
	events []event
}

func (r *recording) of(name string) []call {
	var found []call
	for _, c := range r.calls {
		if c.name == name {
			found = append(found, c)
		}
	}
	return found
}

// one is the only call of a function.
func (r *recording) one(t *testing.T, name string) call {
	t.Helper()
	found := r.of(name)
	if len(found) != 1 {
		t.Fatalf("%d calls of %s", len(found), name)
	}
	return found[0]
}

// traces reads every file of a folder.
func traces(t *testing.T, dir string) []*recording {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.kzt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*recording
	for _, f := range files {
		all = append(all, readTrace(t, f))
	}
	return all
}

func readTrace(t *testing.T, file string) *recording {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	u32, u64 := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	if len(data) < 4096 || string(data[:8]) != "KZTRACE\x01" || u32(data[8:]) != 1 || u32(data[12:]) != 4096 || u32(data[24:]) != 65536 {
		t.Fatalf("%s: header % x", file, data[:min(len(data), 96)])
	}
	ticks0, ns0, ticks1, ns1 := u64(data[32:]), u64(data[40:]), u64(data[56:]), u64(data[64:])
	if ticks1 <= ticks0 || ns1 <= ns0 {
		t.Errorf("%s: no time has passed: ticks %d to %d, ns %d to %d", file, ticks0, ticks1, ns0, ns1)
	}
	r := &recording{pid: u32(data[16:]), flags: u32(data[28:]), lost: u32(data[80:])}
	type symbol struct{ lib, slot uint32 }
	names := map[symbol][2]string{}
	type numbered struct {
		symbol
		call
	}
	var calls []numbered
	next := map[uint32]uint64{}
	for i := range int(u64(data[72:])) {
		chunk := data[4096+i*65536:][:65536]
		if string(chunk[:4]) != "KZCH" || u32(chunk[16:]) != 1 {
			t.Fatalf("%s: chunk %d: % x", file, i, chunk[:24])
		}
		tid := u32(chunk[4:])
		if u64(chunk[8:]) != next[tid] {
			t.Errorf("%s: chunk %d is number %d of thread %d, want %d", file, i, u64(chunk[8:]), tid, next[tid])
		}
		next[tid]++
		for at := 24; at+8 <= len(chunk) && u32(chunk[at:]) != 0; at += int(u32(chunk[at:])) {
			n := int(u32(chunk[at:]))
			if n%8 != 0 || at+n > len(chunk) {
				t.Fatalf("%s: chunk %d: record of %d bytes at %d", file, i, n, at)
			}
			rec := chunk[at : at+n]
			kind, a := binary.LittleEndian.Uint16(rec[4:]), binary.LittleEndian.Uint16(rec[6:])
			switch kind {
			case 1:
				c := numbered{symbol{uint32(a), u32(rec[8:])}, call{tid: tid, depth: u32(rec[12:]), id: u64(rec[16:]), t0: u64(rec[24:]), t1: u64(rec[32:]), result: u64(rec[40:])}}
				words := int(u32(rec[56:]))
				for w := range words {
					c.args = append(c.args, u64(rec[64+8*w:]))
				}
				rest := rec[64+8*words:][:u32(rec[60:])]
				for len(rest) > 0 {
					size := int(u32(rest[4:]))
					if flags := binary.LittleEndian.Uint16(rest[2:]); flags&4 == 0 { // else there is only room for it
						c.blobs = append(c.blobs, blob{rest[0], rest[1], flags, string(rest[8 : 8+size])})
					}
					rest = rest[8+(size+7)/8*8:]
				}
				calls = append(calls, c)
			case 2:
				lib, rest, _ := strings.Cut(string(rec[12:]), "\x00")
				name, _, _ := strings.Cut(rest, "\x00")
				names[symbol{uint32(a), u32(rec[8:])}] = [2]string{lib, name}
			case 3:
				e := event{kind: kind, what: a, call: u64(rec[8:])}
				for v := range e.values {
					e.values[v] = u64(rec[48+8*v:])
				}
				e.text, _, _ = strings.Cut(string(rec[80:]), "\x00")
				r.events = append(r.events, e)
			case 4:
				e := event{kind: kind, what: a, call: u64(rec[8:]), values: [4]uint64{u64(rec[16:])}}
				hash, rest, _ := strings.Cut(string(rec[24:]), "\x00")
				ext, _, _ := strings.Cut(rest, "\x00")
				e.text = hash + "." + ext
				r.events = append(r.events, e)
			default:
				t.Fatalf("%s: record of kind %d", file, kind)
			}
		}
	}
	for _, c := range calls {
		n, ok := names[c.symbol]
		if !ok {
			t.Errorf("%s: library %d, slot %d has no name", file, c.symbol.lib, c.symbol.slot)
		}
		c.call.lib, c.name = n[0], n[1]
		r.calls = append(r.calls, c.call)
	}
	return r
}

// float32s are the values of words that hold floats.
func float32s(words ...uint64) []float32 {
	var f []float32
	for _, w := range words {
		f = append(f, math.Float32frombits(uint32(w)))
	}
	return f
}
