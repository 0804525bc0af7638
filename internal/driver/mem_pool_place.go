package driver

import "kudzu/internal/spec/cu"

// Pools of host memory and of managed memory. A device that shares the process's memory serves them from its own; on others they are not
// offered, and the attributes say so.

// poolPlace is where a pool's memory is said to be, and of which type.
type poolPlace struct {
	typ cu.CUmemAllocationType
	at  spot
}

// device reports whether it is a device's own memory.
func (p poolPlace) device() bool {
	return p.typ == cu.CU_MEM_ALLOCATION_TYPE_PINNED && p.at.kind == cu.CU_MEM_LOCATION_TYPE_DEVICE
}

// kind is that of the pool's allocations.
func (p poolPlace) kind() allocKind {
	switch {
	case p.typ == cu.CU_MEM_ALLOCATION_TYPE_MANAGED:
		return allocManaged
	case p.at.kind != cu.CU_MEM_LOCATION_TYPE_DEVICE:
		return allocHost
	}
	return allocDevice
}

// location is the place in the words of a program.
func (p poolPlace) location() (l cu.CUmemLocation) {
	l.Type = p.at.kind
	*l.Id() = p.at.id
	return l
}

// place checks a pool's location and type, and finds the device that has the memory.
func (t *Thread) place(l cu.CUmemLocation, typ cu.CUmemAllocationType) (p poolPlace, d *Device, err error) {
	if _, err := t.enter(); err != nil {
		return p, nil, err
	}
	managed := typ == cu.CU_MEM_ALLOCATION_TYPE_MANAGED
	if !managed && typ != cu.CU_MEM_ALLOCATION_TYPE_PINNED {
		return p, nil, errInvalidValue
	}
	p = poolPlace{typ, spot{kind: l.Type}}
	switch l.Type {
	case cu.CU_MEM_LOCATION_TYPE_DEVICE:
		p.at.id = *l.Id()
		if d, err = t.device(p.at.id); err != nil {
			return p, nil, err
		}
	case cu.CU_MEM_LOCATION_TYPE_HOST, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA, cu.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		if l.Type == cu.CU_MEM_LOCATION_TYPE_HOST_NUMA && *l.Id() != 0 {
			return p, nil, errInvalidValue // there is one node
		}
	case cu.CU_MEM_LOCATION_TYPE_INVALID: // CU_MEM_LOCATION_TYPE_NONE: wherever it is used
		if !managed {
			return p, nil, errInvalidValue
		}
	default:
		return p, nil, errInvalidValue
	}
	for _, o := range current.Load().devices {
		if d == nil && oneMemory(o.info) {
			d = o // the same one for every thread: a place has one current pool
		}
	}
	if d == nil {
		return p, nil, errNotSupported
	}
	if !p.device() && !oneMemory(d.info) {
		return p, nil, errNotSupported
	}
	return p, d, nil
}

// poolOf is the current pool of a place, or its default one.
func (d *Device) poolOf(s *state, at poolPlace, builtin bool) (*Pool, error) {
	if at.device() {
		if builtin {
			return d.defaultPool(s)
		}
		return d.currentPool(s)
	}
	d.pools.mu.Lock()
	defer d.pools.mu.Unlock()
	if p := d.pools.currents[at]; p != nil && !builtin {
		return p, nil
	}
	if p := d.pools.builtins[at]; p != nil {
		return p, nil
	}
	p, err := s.newPool(d, cu.CUmemPoolProps{AllocType: at.typ, Location: at.location()})
	if err != nil {
		return nil, err
	}
	p.builtin, p.place = true, at
	if d.pools.builtins == nil {
		d.pools.builtins = map[poolPlace]*Pool{}
	}
	d.pools.builtins[at] = p
	d.pools.all = append(d.pools.all, p)
	return p, nil
}

// setCurrent makes a pool the one that its place's allocations come from.
func (d *Device) setCurrent(p *Pool) {
	d.pools.mu.Lock()
	defer d.pools.mu.Unlock()
	if p.place.device() {
		d.pools.current = p
		return
	}
	if d.pools.currents == nil {
		d.pools.currents = map[poolPlace]*Pool{}
	}
	d.pools.currents[p.place] = p
}
