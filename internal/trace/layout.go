package trace

// The layout of a .kzt file. All numbers are little endian; records begin at multiples of eight bytes.
const (
	magic      = "KZTRACE\x01"
	version    = 1
	headerSize = 4096
	argsAt     = 256 // of the program's path and arguments in the header

	atVersion  = 8
	atHeader   = 12
	atPID      = 16
	atPPID     = 20
	atChunk    = 24
	atFlags    = 28
	atTicks0   = 32
	atMono0    = 40
	atReal0    = 48
	atTicks1   = 56
	atMono1    = 64
	atChunks   = 72
	atLost     = 80
	headerEnds = 84

	flagReal = 1 // forwarded to NVIDIA's libraries
)

// A chunk: its owner's records, until a size of zero.
const (
	chunkMagic  = "KZCH"
	chunkSize   = 65536 // of the recorder's files
	minChunk    = 4096
	maxChunk    = 16 << 20
	chunkHeader = 24

	atTID   = 4
	atIndex = 8
	atSpan  = 16 // chunks that one large record has, 0 or 1: this one only
)

// The kinds of record. Each begins with its size, kind and a number whose meaning depends on the kind.
const (
	kindCall   = 1
	kindSymbol = 2
	kindEvent  = 3
	kindModule = 4

	recordHeader = 8
)

// CALL, after the record's header.
const (
	atSlot     = 8
	atDepth    = 12
	atID       = 16
	atT0       = 24
	atT1       = 32
	atResult   = 40
	atCaller   = 48
	atNArgs    = 56
	atBlobs    = 60
	callHeader = 64
	blobHeader = 8
	blobCut    = 1
	blobFilled = 2
	blobLater  = 4 // room for it
)

// SYMBOL has the slot, then two strings.
const symbolHeader = 12

// EVENT.
const (
	atEventCall   = 8
	atEventT0     = 16
	atEventT1     = 24
	atEventDevice = 32
	atEventStream = 40
	atEventValues = 48
	eventHeader   = 80
)

// MODULE.
const (
	atModuleCall  = 8
	atModuleBytes = 16
	atModuleHash  = 24
	hashSize      = 32
	moduleHeader  = 57 // its extension follows
)

// limits of what a file is believed.
const (
	maxSpan    = 64 << 20 // bytes of one record
	maxSymbols = 1 << 20  // names of one process
)
