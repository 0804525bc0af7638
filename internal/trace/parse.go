package trace

// span is the size of the record at the beginning of b; 0 where there is none, or none that can be believed.
func span(b []byte) int {
	if len(b) < recordHeader {
		return 0
	}
	n := le.Uint32(b)
	if n < recordHeader || n%8 != 0 || uint64(n) > uint64(len(b)) {
		return 0
	}
	return int(n)
}

// note takes what a file's other records need from one: names, modules, names of threads.
func (f *file) note(t *Thread, b []byte) {
	switch le.Uint16(b[4:]) {
	case kindSymbol:
		if len(b) < symbolHeader || len(f.symbols) >= maxSymbols {
			return
		}
		library, rest := cString(b[symbolHeader:])
		name, _ := cString(rest)
		f.symbols[symbol{le.Uint16(b[6:]), le.Uint32(b[atSlot:])}] = names{library, name}
	case kindModule:
		if m := module(t, b); m != nil && m.Call != 0 {
			f.modules[m.Call] = m
		}
	case kindEvent:
		if EventType(le.Uint16(b[6:])) == ThreadName && len(b) >= eventHeader {
			if tid := le.Uint64(b[atEventValues:]); tid == 0 || tid == uint64(t.TID) { // a thread may name others
				t.Name, _ = cString(b[eventHeader:])
			}
		}
	}
}

// begins is when a record began, in nanoseconds of the monotonic clock; false for records that are not shown. Modules and some events
// have no time of their own: theirs is that of the record before them. So it is to be called for every record of a thread in order.
func (f *file) begins(t *Thread, b []byte) (int64, bool) {
	ticks := uint64(0)
	switch kind := le.Uint16(b[4:]); {
	case kind == kindCall && len(b) >= callHeader:
		ticks = le.Uint64(b[atT0:])
	case kind == kindEvent && len(b) >= eventHeader:
		ticks = le.Uint64(b[atEventT0:])
	case kind == kindModule:
	default:
		return 0, false
	}
	if ticks != 0 {
		t.last = f.clock.ns(ticks)
	}
	return max(t.last, int64(f.clock.mono0)), true
}

// record reads one that began at a time; false if it is none that is shown, or malformed. start is the trace's.
func (f *file) record(t *Thread, b []byte, when, start int64) (Record, bool) {
	r := Record{Thread: t, Time: when - start}
	switch le.Uint16(b[4:]) {
	case kindCall:
		r.Call = f.call(t, b, start)
	case kindEvent:
		r.Event = f.event(t, b, when, start)
	case kindModule:
		r.Module = module(t, b)
	}
	return r, r.Call != nil || r.Event != nil || r.Module != nil
}

func (f *file) call(t *Thread, b []byte, start int64) *Call {
	if len(b) < callHeader {
		return nil
	}
	n, blobs := uint64(le.Uint32(b[atNArgs:])), uint64(le.Uint32(b[atBlobs:]))
	if 8*n+blobs > uint64(len(b)-callHeader) {
		return nil
	}
	c := &Call{
		Thread: t, ID: le.Uint64(b[atID:]), Slot: le.Uint32(b[atSlot:]), Depth: int(le.Uint32(b[atDepth:])),
		Begin: f.clock.ns(le.Uint64(b[atT0:])) - start, End: Running, Result: le.Uint64(b[atResult:]), Caller: le.Uint64(b[atCaller:]),
	}
	if t1 := le.Uint64(b[atT1:]); t1 != 0 {
		c.End = max(f.clock.ns(t1)-start, c.Begin)
	}
	s := f.symbols[symbol{le.Uint16(b[6:]), c.Slot}]
	c.Library, c.Name, c.Module = s.library, s.name, f.modules[c.ID]
	c.Words = make([]uint64, n)
	for i := range c.Words {
		c.Words[i] = le.Uint64(b[callHeader+8*i:])
	}
	at := callHeader + 8*int(n)
	c.Blobs = blobsOf(b[at : at+int(blobs)])
	return c
}

// blobsOf reads blobs up to one that does not fit.
func blobsOf(b []byte) []Blob {
	var all []Blob
	for len(b) >= blobHeader {
		size := uint64(le.Uint32(b[4:]))
		whole := blobHeader + (size+7)&^7
		if blobHeader+size > uint64(len(b)) {
			return all
		}
		flags := le.Uint16(b[2:])
		if flags&blobLater != 0 { // room for parameters of a kernel that were never there
			b = b[min(whole, uint64(len(b))):]
			continue
		}
		all = append(all, Blob{
			Arg: int(b[0]), What: What(b[1]), Cut: flags&blobCut != 0, Filled: flags&blobFilled != 0,
			Data: b[blobHeader : blobHeader+size : blobHeader+size],
		})
		b = b[min(whole, uint64(len(b))):]
	}
	return all
}

func (f *file) event(t *Thread, b []byte, when, start int64) *Event {
	if len(b) < eventHeader {
		return nil
	}
	e := &Event{
		Thread: t, Type: EventType(le.Uint16(b[6:])), Call: le.Uint64(b[atEventCall:]),
		Begin: when - start, Device: int(le.Uint32(b[atEventDevice:])), Stream: le.Uint64(b[atEventStream:]),
	}
	e.End = e.Begin
	if t1 := le.Uint64(b[atEventT1:]); t1 != 0 {
		e.End = max(f.clock.ns(t1)-start, e.Begin)
	}
	for i := range e.Values {
		e.Values[i] = le.Uint64(b[atEventValues+8*i:])
	}
	e.Text, _ = cString(b[eventHeader:])
	return e
}

// module refuses names that lead out of the folder of modules.
func module(t *Thread, b []byte) *Module {
	if len(b) < moduleHeader {
		return nil
	}
	m := &Module{Thread: t, Given: int(le.Uint16(b[6:])), Call: le.Uint64(b[atModuleCall:]), Bytes: le.Uint64(b[atModuleBytes:])}
	m.Hash, _ = cString(b[atModuleHash : atModuleHash+hashSize])
	m.Ext, _ = cString(b[moduleHeader:])
	if !plain(m.Hash) || !plain(m.Ext) {
		return nil
	}
	return m
}

// plain reports a part of a file's name that is letters and digits.
func plain(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= hashSize
}
