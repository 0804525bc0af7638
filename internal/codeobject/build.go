package codeobject

import (
	"encoding/binary"
	"fmt"
)

// Source is what Build makes a relocatable object of.
type Source struct {
	Target  Target
	Version int // of the code object: 4, 5 or 6
	Kernels []Kernel
	Code    [][]byte // of each kernel
	Externs []string // symbols whose addresses, 8 bytes each, stand behind the code of the last kernel
}

// codeAlign is what hardware wants of a kernel's first instruction.
const codeAlign = 256

// Build writes the relocatable object that LLVM would write for kernels whose code is known: for tests of what comes behind
// the compiler, and for machines without one. Metadata and descriptors come from Kernels; Descriptor.Entry is set by Link.
func Build(src *Source) ([]byte, error) {
	b := &builder{src: src, strs: []byte{0}, syms: make([]byte, symBytes)}
	var abi byte
	for a, v := range abiVersions {
		if v == src.Version {
			abi = a
		}
	}
	if abi == 0 || len(src.Code) != len(src.Kernels) {
		return nil, fmt.Errorf("build: version %d, %d kernels, %d codes", src.Version, len(src.Kernels), len(src.Code))
	}
	for i := range src.Kernels {
		b.kernel(&src.Kernels[i], src.Code[i])
	}
	for len(b.text)%8 != 0 {
		b.text = append(b.text, 0)
	}
	for _, name := range src.Externs {
		b.symbol(name, stbGlobal, 0, stvDefault, shnUndef, 0, 0)
		b.textRel = appendRela(b.textRel, uint64(len(b.text)), relAbs64, b.count-1, 0)
		b.text = append(b.text, make([]byte, 8)...)
	}
	out := b.file()
	out[8] = abi
	flags := src.Target.Mach | uint32(src.Target.XNACK)<<xnackShift | uint32(src.Target.SRAMECC)<<sramShift
	if src.Target.IsGeneric() {
		flags |= 1 << genericShift
	}
	binary.LittleEndian.PutUint32(out[48:], flags)
	return out, nil
}

type builder struct {
	src             *Source
	text, kds       []byte
	kdRel, textRel  []byte
	syms, strs      []byte
	count           uint32 // symbols after the null one, plus it
	metadataKernels []any
}

// The sections, in order.
const (
	secText = iota + 1
	secRodata
	secRelaRodata
	secRelaText
	secNote
	secSymtab
	secStrtab
	secShstrtab
	numSecs
)

func (b *builder) symbol(name string, bind, kind, vis byte, shndx uint16, value, size uint64) {
	var s [symBytes]byte
	le := binary.LittleEndian
	le.PutUint32(s[:], uint32(len(b.strs)))
	s[4], s[5] = bind<<4|kind, vis
	le.PutUint16(s[6:], shndx)
	le.PutUint64(s[8:], value)
	le.PutUint64(s[16:], size)
	b.syms = append(b.syms, s[:]...)
	b.strs = append(append(b.strs, name...), 0)
	b.count = uint32(len(b.syms) / symBytes)
}

func appendRela(b []byte, off uint64, kind, sym uint32, addend int64) []byte {
	le := binary.LittleEndian
	return le.AppendUint64(le.AppendUint64(le.AppendUint64(b, off), uint64(sym)<<32|uint64(kind)), uint64(addend))
}

const (
	sttObject   = 1
	sttFunc     = 2
	entryOffset = 16 // of Entry in a descriptor
)

func (b *builder) kernel(k *Kernel, code []byte) {
	for len(b.text)%codeAlign != 0 {
		b.text = append(b.text, 0)
	}
	at := uint64(len(b.text))
	b.text = append(b.text, code...)
	b.symbol(k.Name, stbGlobal, sttFunc, stvProtected, secText, at, uint64(len(code)))
	b.kdRel = appendRela(b.kdRel, uint64(len(b.kds)+entryOffset), relRel64, b.count-1, entryOffset)
	d := k.Descriptor
	d.GroupSegment, d.PrivateSegment, d.Kernarg, d.Entry = uint32(k.GroupFixed), uint32(k.PrivateFixed), uint32(k.KernargSize), 0
	if k.Wave == 32 {
		d.Properties |= PropWave32
	}
	if k.DynamicStack {
		d.Properties |= PropDynamicStack
	}
	b.symbol(k.Name+".kd", stbGlobal, sttObject, stvProtected, secRodata, uint64(len(b.kds)), DescriptorBytes)
	b.kds = append(b.kds, d.Encode()...)
	b.metadataKernels = append(b.metadataKernels, k.metadata())
}

// metadata is the kernel's map in the note.
func (k *Kernel) metadata() map[string]any {
	args := []any{}
	for _, a := range k.Args {
		m := map[string]any{".offset": int64(a.Offset), ".size": int64(a.Size), ".value_kind": a.Kind}
		if a.Name != "" {
			m[".name"] = a.Name
		}
		if a.AddressSpace != "" {
			m[".address_space"] = a.AddressSpace
		}
		args = append(args, m)
	}
	return map[string]any{
		".name": k.Name, ".symbol": k.Name + ".kd", ".args": args,
		".kernarg_segment_size": int64(k.KernargSize), ".kernarg_segment_align": int64(max(k.KernargAlign, 8)),
		".group_segment_fixed_size": int64(k.GroupFixed), ".private_segment_fixed_size": int64(k.PrivateFixed),
		".wavefront_size": int64(k.Wave), ".sgpr_count": int64(k.SGPRs), ".vgpr_count": int64(k.VGPRs), ".agpr_count": int64(k.AGPRs),
		".sgpr_spill_count": int64(k.SGPRSpills), ".vgpr_spill_count": int64(k.VGPRSpills), ".max_flat_workgroup_size": int64(k.MaxFlat),
		".uses_dynamic_stack": k.DynamicStack,
	}
}

func (b *builder) note() []byte {
	md := pack(nil, map[string]any{
		"amdhsa.kernels": b.metadataKernels, "amdhsa.target": "amdgcn-amd-amdhsa--" + b.src.Target.String(),
		"amdhsa.version": []any{int64(1), int64(b.src.Version - 3)},
	})
	le := binary.LittleEndian
	n := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 7), uint32(len(md))), ntMetadata)
	n = append(append(n, "AMDGPU\x00\x00"...), md...)
	for len(n)%4 != 0 {
		n = append(n, 0)
	}
	return n
}

// file puts the sections one behind the other.
func (b *builder) file() []byte {
	secs := [numSecs]outSection{
		secText:       {name: ".text", kind: shtProgbits, flags: shfAlloc | shfExec, align: codeAlign},
		secRodata:     {name: ".rodata", kind: shtProgbits, flags: shfAlloc, align: DescriptorBytes},
		secRelaRodata: {name: ".rela.rodata", kind: shtRela, link: secSymtab, info: secRodata, align: 8, entrySize: relaBytes},
		secRelaText:   {name: ".rela.text", kind: shtRela, link: secSymtab, info: secText, align: 8, entrySize: relaBytes},
		secNote:       {name: ".note", kind: shtNote, flags: shfAlloc, align: 4},
		secSymtab:     {name: ".symtab", kind: shtSymtab, link: secStrtab, info: 1, align: 8, entrySize: symBytes},
		secStrtab:     {name: ".strtab", kind: shtStrtab, align: 1},
		secShstrtab:   {name: ".shstrtab", kind: shtStrtab, align: 1},
	}
	names := []byte{0}
	var at [numSecs]uint32
	for i := 1; i < numSecs; i++ {
		at[i] = uint32(len(names))
		names = append(append(names, secs[i].name...), 0)
	}
	parts := [numSecs][]byte{
		secText: b.text, secRodata: b.kds, secRelaRodata: b.kdRel, secRelaText: b.textRel,
		secNote: b.note(), secSymtab: b.syms, secStrtab: b.strs, secShstrtab: names,
	}
	out := make([]byte, ehdrBytes)
	for i := 1; i < numSecs; i++ {
		for uint64(len(out))%secs[i].align != 0 {
			out = append(out, 0)
		}
		secs[i].off, secs[i].size = uint64(len(out)), uint64(len(parts[i]))
		out = append(out, parts[i]...)
	}
	for len(out)%8 != 0 {
		out = append(out, 0)
	}
	le := binary.LittleEndian
	shoff := len(out)
	for i, s := range secs {
		out = append(out, s.header(at[i])...)
	}
	copy(out, "\x7fELF\x02\x01\x01")
	out[7] = osabiHSA
	le.PutUint16(out[16:], etRel)
	le.PutUint16(out[18:], emAMDGPU)
	le.PutUint32(out[20:], 1)
	le.PutUint64(out[40:], uint64(shoff))
	for i, v := range []uint16{ehdrBytes, 0, 0, shdrBytes, numSecs, secShstrtab} {
		le.PutUint16(out[52+2*i:], v)
	}
	return out
}

// header is the section's header; name is the place of its name.
func (s *outSection) header(name uint32) []byte {
	le := binary.LittleEndian
	h := make([]byte, shdrBytes)
	le.PutUint32(h, name)
	le.PutUint32(h[4:], s.kind)
	for j, v := range []uint64{s.flags, s.addr, s.off, s.size, uint64(s.link) | uint64(s.info)<<32, s.align, s.entrySize} {
		le.PutUint64(h[8+8*j:], v)
	}
	return h
}
