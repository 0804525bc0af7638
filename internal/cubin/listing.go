package cubin

// Listing is a file section by section, as a disassembler shows it.
type Listing struct {
	File     *File
	Sections []Listed
	Owners   []int // by the number of a symbol: its section, 0 for none
}

// Listed is a section.
type Listed struct {
	Name  string
	Code  bool
	Write bool
	Load  bool   // takes memory on a device
	Bytes []byte // nil: zeros, not in the file
	Size  uint64
	Align uint64
	Names []Place // the variables in it
}

// Place is where a variable is in its section.
type Place struct {
	Name     string
	Global   bool
	At, Size uint64
}

// List reads a file that Encode wrote. The error is a *Foreign for others.
func List(b []byte) (*Listing, error) {
	e, err := parse(b)
	if err != nil {
		return nil, err
	}
	if _, err := e.ptx(); err != nil {
		return nil, err
	}
	l := &Listing{}
	if l.File, err = Decode(b); err != nil {
		return nil, err
	}
	for i := range e.sections {
		s := &e.sections[i]
		l.Sections = append(l.Sections, Listed{Name: s.name, Code: s.flags&flagExec != 0, Write: s.flags&flagWrite != 0, Load: s.flags&flagAlloc != 0,
			Bytes: s.data, Size: s.size, Align: s.align})
	}
	symbols, err := e.symbols()
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		if s.section >= len(l.Sections) {
			s.section = 0
		}
		l.Owners = append(l.Owners, s.section)
		if s.info&15 == symObject {
			at := &l.Sections[s.section]
			at.Names = append(at.Names, Place{Name: s.name, Global: s.info>>4 != 0, At: s.value, Size: s.size})
		}
	}
	return l, nil
}
