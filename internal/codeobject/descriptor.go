package codeobject

import "encoding/binary"

// DescriptorBytes is the size of a kernel descriptor.
const DescriptorBytes = 64

// Descriptor is a kernel descriptor (LLVM's AMDGPU usage guide, "Code Object V3 Kernel Descriptor"): what the command
// processor reads to start a wave.
type Descriptor struct {
	GroupSegment   uint32 // static LDS, bytes
	PrivateSegment uint32 // scratch, bytes a thread
	Kernarg        uint32 // bytes
	Entry          int64  // from the descriptor to the first instruction
	Rsrc3          uint32
	Rsrc1          uint32
	Rsrc2          uint32
	Properties     uint16 // which user SGPRs are set up, and wave32
	Preload        uint16
}

// The bits of Properties, in the order of the user SGPRs they ask for.
const (
	PropPrivateBuffer = 1 << 0 // 4 SGPRs
	PropDispatchPtr   = 1 << 1 // 2
	PropQueuePtr      = 1 << 2 // 2
	PropKernargPtr    = 1 << 3 // 2
	PropDispatchID    = 1 << 4 // 2
	PropFlatScratch   = 1 << 5 // 2
	PropPrivateSize   = 1 << 6 // 1
	PropWave32        = 1 << 10
	PropDynamicStack  = 1 << 11
)

// Wave32 reports a kernel of 32 lanes a wave.
func (d *Descriptor) Wave32() bool { return d.Properties&PropWave32 != 0 }

func decodeDescriptor(b []byte) Descriptor {
	le := binary.LittleEndian
	return Descriptor{
		GroupSegment: le.Uint32(b), PrivateSegment: le.Uint32(b[4:]), Kernarg: le.Uint32(b[8:]), Entry: int64(le.Uint64(b[16:])),
		Rsrc3: le.Uint32(b[44:]), Rsrc1: le.Uint32(b[48:]), Rsrc2: le.Uint32(b[52:]), Properties: le.Uint16(b[56:]), Preload: le.Uint16(b[58:]),
	}
}

// Encode is the descriptor as it lies in a code object.
func (d *Descriptor) Encode() []byte {
	b := make([]byte, DescriptorBytes)
	le := binary.LittleEndian
	le.PutUint32(b, d.GroupSegment)
	le.PutUint32(b[4:], d.PrivateSegment)
	le.PutUint32(b[8:], d.Kernarg)
	le.PutUint64(b[16:], uint64(d.Entry))
	le.PutUint32(b[44:], d.Rsrc3)
	le.PutUint32(b[48:], d.Rsrc1)
	le.PutUint32(b[52:], d.Rsrc2)
	le.PutUint16(b[56:], d.Properties)
	le.PutUint16(b[58:], d.Preload)
	return b
}
