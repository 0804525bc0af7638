package tap

import (
	"bytes"
	"runtime/debug"
)

// Image is the memory that a launch may reach, and what it was before.
type Image []Region

// Region is one allocation.
type Region struct {
	Base   uint64
	Live   []byte // the memory itself
	Before []byte
}

// Chunk is how finely changes are kept.
const Chunk = 1024

// Take copies memory into *buf, which grows as needed; false if there is more than limit. Preconditions: the device is quiet, and
// the host sees its memory.
func (d *Device) Take(limit uint64, buf *[]byte) (Image, bool) {
	all := d.extents()
	var total uint64
	for _, e := range all {
		total += e.size
	}
	if total > limit {
		return nil, false
	}
	if uint64(len(*buf)) < total {
		*buf = make([]byte, total+total/4)
	}
	room := *buf
	var im Image
	for _, e := range all {
		r := Region{Base: e.base, Live: hostBytes(e.base, e.size), Before: room[:e.size:e.size]}
		if readable(r.Before, r.Live) {
			im, room = append(im, r), room[e.size:]
		}
	}
	return im, true
}

// readable copies; false if the program has unmapped memory that it registered.
func readable(dst, src []byte) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if _, fault := r.(interface{ Addr() uintptr }); !fault {
				panic(r)
			}
			ok = false
		}
	}()
	copy(dst, src)
	return true
}

// Changes is what a run left different from before: chunks by region and offset.
type Changes map[Place][]byte

// Place is where a chunk is.
type Place struct {
	Region int
	Offset int
}

// each calls f for every chunk of all regions, or of those that are wanted.
func (im Image) each(want func(r *Region) bool, f func(at Place, live, before []byte)) {
	for i := range im {
		r := &im[i]
		if want != nil && !want(r) {
			continue
		}
		for off := 0; off < len(r.Live); off += Chunk {
			end := min(off+Chunk, len(r.Live))
			f(Place{i, off}, r.Live[off:end], r.Before[off:end])
		}
	}
}

// Undo puts memory back that the reference touched, and gives what was there.
func (im Image) Undo(s *Space) Changes {
	c := Changes{}
	im.each(func(r *Region) bool { return s.Touched(r.Base, uint64(len(r.Live))) }, func(at Place, live, before []byte) {
		if !bytes.Equal(live, before) {
			c[at] = bytes.Clone(live)
			copy(live, before)
		}
	})
	return c
}

// Delta is a chunk that the two left different.
type Delta struct {
	At                Place
	Device, Reference []byte
}

// Deltas compares memory as it is with what the reference left. touched is how many chunks either changed.
func (im Image) Deltas(ref Changes) (all []Delta, touched int) {
	im.each(nil, func(at Place, live, before []byte) {
		want, changed := ref[at]
		if !changed {
			want = before
		}
		if changed || !bytes.Equal(live, before) {
			touched++
		}
		if !bytes.Equal(live, want) {
			all = append(all, Delta{at, bytes.Clone(live), want})
		}
	})
	return all, touched
}

// Against is the changes that lead to other memory, of each region.
func (im Image) Against(after [][]byte) Changes {
	c := Changes{}
	im.each(nil, func(at Place, _, before []byte) {
		if there := after[at.Region][at.Offset:][:len(before)]; !bytes.Equal(there, before) {
			c[at] = there
		}
	})
	return c
}
