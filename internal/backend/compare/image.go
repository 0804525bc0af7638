package compare

import (
	"bytes"
	"runtime/debug"
)

// image is the memory that a launch may reach, and what it was before.
type image []region

// region is one allocation.
type region struct {
	base   uint64
	live   []byte // the memory itself
	before []byte
}

// chunk is how finely changes are kept.
const chunk = 1024

// take copies memory into *buf, which grows as needed; false if there is more than limit.
func take(all []extent, limit uint64, buf *[]byte) (image, bool) {
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
	var im image
	for _, e := range all {
		r := region{base: e.base, live: hostBytes(e.base, e.size), before: room[:e.size:e.size]}
		if readable(r.before, r.live) {
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

// changes is what a run left different from before: chunks by region and offset.
type changes map[place][]byte

type place struct {
	region int
	offset int
}

// each calls f for every chunk.
func (im image) each(f func(at place, live, before []byte)) {
	for i := range im {
		r := &im[i]
		for off := 0; off < len(r.live); off += chunk {
			end := min(off+chunk, len(r.live))
			f(place{i, off}, r.live[off:end], r.before[off:end])
		}
	}
}

// undo puts memory back and gives what was there.
func (im image) undo() changes {
	c := changes{}
	im.each(func(at place, live, before []byte) {
		if !bytes.Equal(live, before) {
			c[at] = bytes.Clone(live)
			copy(live, before)
		}
	})
	return c
}

// delta is a chunk that the two left different.
type delta struct {
	at                place
	device, reference []byte
}

// deltas compares memory as it is with what the reference left. touched is how many chunks either changed.
func (im image) deltas(ref changes) (all []delta, touched int) {
	im.each(func(at place, live, before []byte) {
		want, changed := ref[at]
		if !changed {
			want = before
		}
		if changed || !bytes.Equal(live, before) {
			touched++
		}
		if !bytes.Equal(live, want) {
			all = append(all, delta{at, bytes.Clone(live), want})
		}
	})
	return all, touched
}
