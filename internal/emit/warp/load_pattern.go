package warp

import (
	"slices"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Loads whose lanes lie at known distances, but not contiguous: lanes 4g … 4g+3 read the bytes of block g, which is 34 bytes long;
// groups of lanes share a scale. A few whole vectors and permutations read that in a tenth of the time of a gather.

// known64 is the size of the vectors that are loaded and permuted.
const known64 = 64

// maxGap is the largest distance between what lanes read that may be read over: what lies between is in a page that one of
// the lanes reads from.
const maxGap = 2048

// frame is 64 bytes that are loaded: from one address, or from several that are concatenated.
type frame struct {
	at    []int64 // offsets from lane 0
	bytes int     // at each address
}

// source is where an element is.
type source struct{ frame, index int }

// knownPlan says how a load is done.
type knownPlan struct {
	frames []frame
	src    [][]source // by element of a lane and lane
}

// planKnown finds a way to read a without gathering, or nil.
func (e *emitter) planKnown(a *access) *knownPlan {
	if !e.cpu.avx512 || e.w != 32 || !a.known || a.uniform() || !a.same() || a.in.Space == ir.Local || a.elem > 8 || a.types[0] == ir.I1 {
		return nil
	}
	k := &layout{elem: int64(a.elem), count: len(a.types)}
	for l := range k.off {
		k.off[l] = laneOffset(a.shape, l)
	}
	k.findRuns(int64(a.size))
	if k.runs == nil {
		return nil
	}
	p, most := k.windows()
	if p != nil && most <= 2 {
		return p
	}
	if r := k.whole(); r != nil {
		return r
	}
	return p
}

func (e *emitter) planned(a *access, p **knownPlan) bool {
	*p = e.planKnown(a)
	return *p != nil
}

// layout is what a load wants.
type layout struct {
	off   [32]int64
	elem  int64
	count int   // contiguous elements of a lane
	runs  []run // what is read, in order; nil: too far apart
}

type run struct{ from, to int64 }

func (k *layout) findRuns(size int64) {
	offs := slices.Clone(k.off[:])
	slices.Sort(offs)
	for _, o := range offs {
		n := len(k.runs)
		switch {
		case n > 0 && o <= k.runs[n-1].to:
			k.runs[n-1].to = max(k.runs[n-1].to, o+size)
		case n > 0 && o-k.runs[n-1].to > maxGap:
			k.runs = nil
			return
		default:
			k.runs = append(k.runs, run{o, o + size})
		}
	}
}

// whole loads every run as it is, several in a vector: a run is contiguous.
func (k *layout) whole() *knownPlan {
	n := k.runs[0].to - k.runs[0].from
	if n < 16 || n > known64 || n&(n-1) != 0 || len(k.runs) > 16 {
		return nil
	}
	each := int(known64 / n)
	p := &knownPlan{}
	for i, r := range k.runs {
		if r.to-r.from != n {
			return nil
		}
		if i%each == 0 {
			p.frames = append(p.frames, frame{bytes: int(n)})
		}
		im := &p.frames[len(p.frames)-1]
		im.at = append(im.at, r.from)
	}
	for j := 0; j < k.count; j++ {
		src := make([]source, 32)
		for l := range src {
			at := k.off[l] + int64(j)*k.elem
			i, _ := slices.BinarySearchFunc(k.runs, at, func(r run, at int64) int {
				if at >= r.to {
					return -1
				} else if at < r.from {
					return 1
				}
				return 0
			})
			in := int64(i%each)*n + at - k.runs[i].from
			if in%k.elem != 0 {
				return nil
			}
			src[l] = source{i / each, int(in / k.elem)}
		}
		p.src = append(p.src, src)
	}
	if k.mixed(p) > 4 {
		return nil
	}
	return p
}

// lanes is how many lanes of one element make a vector.
func (k *layout) lanes() int { return min(32, int(known64/k.elem)) }

// mixed is how many frames an output vector is made from at most.
func (k *layout) mixed(p *knownPlan) int {
	most := 0
	for _, src := range p.src {
		for c := 0; c < 32; c += k.lanes() {
			seen := map[int]bool{}
			for _, s := range src[c : c+k.lanes()] {
				seen[s.frame] = true
			}
			most = max(most, len(seen))
		}
	}
	return most
}

// windows covers what the lanes of each output vector read with vectors of 64 bytes, fewer where all that is read is less.
func (k *layout) windows() (p *knownPlan, most int) {
	p = &knownPlan{src: make([][]source, k.count)}
	for j := range p.src {
		p.src[j] = make([]source, 32)
	}
	first, last := k.runs[0].from, k.runs[len(k.runs)-1].to
	for c := 0; c < 32; c += k.lanes() {
		type want struct {
			at   int64
			j, l int
		}
		var left []want
		for j := 0; j < k.count; j++ {
			for l := c; l < c+k.lanes(); l++ {
				left = append(left, want{k.off[l] + int64(j)*k.elem, j, l})
			}
		}
		slices.SortStableFunc(left, func(x, y want) int { return int(x.at - y.at) })
		n := 0
		for len(left) > 0 {
			if n++; n > 4 {
				return nil, 0
			}
			at, size := left[0].at, int64(known64)
			for ; ; size /= 2 { // to the left of the end, and not before the beginning
				over := (max(at+size-last, 0) + k.elem - 1) / k.elem * k.elem
				if at-over >= first {
					at -= over
					break
				}
			}
			rest := left[:0]
			for _, w := range left {
				if d := w.at - at; d >= 0 && d+k.elem <= size && d%k.elem == 0 {
					p.src[w.j][w.l] = source{len(p.frames), int(d / k.elem)}
				} else {
					rest = append(rest, w)
				}
			}
			left = rest
			p.frames = append(p.frames, frame{[]int64{at}, int(size)})
		}
		most = max(most, n)
	}
	return p, most
}

// loadKnown does what the plan says if all lanes act, and gathers otherwise.
func (e *emitter) loadKnown(a *access, p *knownPlan) []ll.Val {
	fast := func() []ll.Val {
		t := memType(a.types[0])
		base := e.pointer(a.in.Space, e.scalar(a.in.Args[0]))
		full := known64 / a.elem
		var frames []ll.Val
		for _, im := range p.frames {
			var parts []ll.Val
			for _, at := range im.at {
				vt := ll.Vec(im.bytes/a.elem, t)
				if im.bytes == a.elem {
					vt = "<1 x " + t + ">"
				}
				parts = append(parts, e.LoadAs(vt, e.at(base, int(at)), ll.Access{Align: a.elem, Meta: a.ro}))
			}
			x := e.joinAll(parts)
			if n, _ := x.T.Split(); n < full {
				x = e.Shuffle(x, x, rangeInts(0, full, func(i int) int {
					if i < n {
						return i
					}
					return -1
				}))
			}
			frames = append(frames, x)
		}
		var out []ll.Val
		for _, src := range p.src {
			var parts []ll.Val
			for c := 0; c < 32; c += min(32, full) {
				parts = append(parts, e.fromFrames(frames, src[c:c+min(32, full)]))
			}
			out = append(out, e.concat(parts))
		}
		return out
	}
	if a.all {
		return fast()
	}
	full := e.ICmp("eq", e.number(a.mask), ll.Int("i32", -1))
	return e.choose(full, "known", fast, func() []ll.Val { return e.gather(a) })
}

// fromFrames picks elements out of up to four frames.
func (e *emitter) fromFrames(frames []ll.Val, src []source) ll.Val {
	var used []int
	for _, s := range src {
		if !slices.Contains(used, s.frame) {
			used = append(used, s.frame)
		}
	}
	pair := func(x, y int) ll.Val {
		n, _ := frames[x].T.Split()
		lanes := make([]int, len(src))
		for i, s := range src {
			switch s.frame {
			case x:
				lanes[i] = s.index
			case y:
				lanes[i] = n + s.index
			default:
				lanes[i] = -1
			}
		}
		return e.Shuffle(frames[x], frames[y], lanes)
	}
	switch len(used) {
	case 1:
		return pair(used[0], used[0])
	case 2:
		return pair(used[0], used[1])
	}
	x, y := pair(used[0], used[1]), pair(used[2], used[len(used)-1])
	return e.Shuffle(x, y, rangeInts(0, len(src), func(i int) int {
		if s := src[i].frame; s == used[0] || s == used[1] {
			return i
		}
		return len(src) + i
	}))
}
