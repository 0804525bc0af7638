package cpu

import (
	"errors"
	"fmt"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/engine"
	"kudzu/internal/logx"
)

// Variants are made once, however many threads ask; those of different shapes are made at the same time.

// shape is what a variant is made for.
type shape struct {
	block    [3]uint32 // zero: any
	clusters bool
}

// String is the block's.
func (s shape) String() string { return fmt.Sprintf("%dx%dx%d", s.block[0], s.block[1], s.block[2]) }

// making is a variant that a thread makes. Others that want it wait.
type making struct {
	done chan struct{}
	v    *variant
	err  error
}

// variant finds or makes the variant for a shape.
func (k *Kernel) variant(block [3]uint32) (*variant, error) { return k.variantFrom(block, nil) }

// found is a kernel's text, and the image of one shape and tier where the cache has one; nil where nobody has looked.
type found struct {
	text       string
	line       func(int) int
	background bool // nobody waits for its code
	shape
	tier  compile.Tier
	image *compile.Result
}

func (k *Kernel) variantFrom(block [3]uint32, at *found) (*variant, error) {
	k.mu.Lock()
	if k.never != nil {
		defer k.mu.Unlock()
		return nil, k.never
	}
	if v := k.find(block); v != nil {
		k.mu.Unlock()
		return v, nil
	}
	if m := k.making[shape{block: block}]; m == nil && block != ([3]uint32{}) && k.shapes() >= maxShapes {
		block = [3]uint32{}
		if v := k.find(block); v != nil {
			k.mu.Unlock()
			return v, nil
		}
	}
	return k.once(shape{block: block}, func() (*variant, error) { return k.make(block, at) }, func(v *variant, err error) {
		var u *backend.Unsupported
		if errors.As(err, &u) {
			k.never = err
		}
		if err == nil {
			k.add(v)
			v.promote()
		}
	})
}

// once has build called on one thread for each shape at a time, and then keep with k.mu held. The others get what came out.
//
// Preconditions: k.mu is held. It is given back.
func (k *Kernel) once(s shape, build func() (*variant, error), keep func(*variant, error)) (*variant, error) {
	if k.gone.Load() {
		k.mu.Unlock()
		return nil, backend.ErrClosed
	}
	if m := k.making[s]; m != nil {
		k.mu.Unlock()
		<-m.done
		return m.v, m.err
	}
	m := &making{done: make(chan struct{}), err: fmt.Errorf("BUG: kernel %s: it was not made", k.decl.Name)} // if build does not return
	if k.making == nil {
		k.making = map[shape]*making{}
	}
	k.making[s] = m
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		keep(m.v, m.err)
		delete(k.making, s)
		k.mu.Unlock()
		close(m.done)
	}()
	m.v, m.err = build()
	return m.v, m.err
}

// shapes counts the specialised variants, and those that are being made. Preconditions: k.mu is held.
func (k *Kernel) shapes() int {
	n := 0
	if list := k.list.Load(); list != nil {
		for _, v := range *list {
			if v.block != ([3]uint32{}) {
				n++
			}
		}
	}
	for s := range k.making {
		if s.block != ([3]uint32{}) && !s.clusters {
			n++
		}
	}
	return n
}

// add publishes a variant. Preconditions: k.mu is held.
func (k *Kernel) add(v *variant) {
	var next []*variant
	if list := k.list.Load(); list != nil {
		next = append(next, *list...)
	}
	next = append(next, v)
	k.list.Store(&next)
	engine.Changed() // it may be the one that another launch takes from now on
}

// clustered is the variant for a launch in clusters of several blocks. To a kernel that asks nothing about its cluster they make no
// difference, and the answer is nil. What cannot be compiled so is interpreted.
func (k *Kernel) clustered(l *backend.Launch) (*variant, error) {
	k.mu.Lock()
	if k.noClusters {
		k.mu.Unlock()
		return nil, nil
	}
	if v := k.inClusters[l.Block]; v != nil {
		k.mu.Unlock()
		return v, nil
	}
	return k.once(shape{l.Block, true}, func() (*variant, error) { return k.makeClustered(l.Block) }, func(v *variant, err error) {
		switch {
		case err != nil:
			return
		case v == nil:
			k.noClusters = true
			return
		case len(k.inClusters) >= maxShapes:
			clear(k.inClusters) // what is under way holds its own; the mappings stay until the module goes
		case k.inClusters == nil:
			k.inClusters = map[[3]uint32]*variant{}
		}
		k.inClusters[l.Block] = v
		k.allClusters = append(k.allClusters, v)
		v.promote()
	})
}

// makeClustered is make for launches in clusters; nil if they make no difference.
func (k *Kernel) makeClustered(block [3]uint32) (*variant, error) {
	text, _, err := k.sliced()
	if err != nil {
		return nil, err
	}
	if !strings.Contains(text, "cluster") && !strings.Contains(text, "mapa") {
		return nil, nil
	}
	v, err := k.compile(shape{block, true}, nil)
	var broken *compile.Failed
	var cannot *compile.Unsupported
	var none *compile.NoCompiler
	if errors.As(err, &cannot) || errors.As(err, &broken) || errors.As(err, &none) {
		return k.fallBack(err, func() {
			logx.Once("clusters "+k.decl.Name, "kernel %s is interpreted when launched in clusters: %s", k.decl.Name, err)
		})
	}
	return v, err
}

// retire takes the variants away. A launch that is under way on another thread may still have one.
//
// Preconditions: k.gone is set.
func (k *Kernel) retire() []*variant {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.making) > 0 {
		for _, m := range k.making {
			k.mu.Unlock()
			<-m.done
			k.mu.Lock()
			break
		}
	}
	all := append(k.allClusters, k.superseded...)
	if list := k.list.Swap(nil); list != nil {
		all = append(all, *list...)
	}
	engine.Changed()
	k.allClusters, k.inClusters, k.superseded = nil, nil, nil
	return all
}
