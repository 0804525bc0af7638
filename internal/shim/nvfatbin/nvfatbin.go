// Package nvfatbin answers nvFatbin: it puts PTX, files of our assembler and cubins into a fat binary. Codes and the layout of entries are those
// of release 13.4, recorded without a GPU; what is compressed is compressed with LZ4, which all releases read.
package nvfatbin

import (
	"errors"
	"strconv"
	"strings"

	"kudzu/internal/driver"
	"kudzu/internal/fatbin"
	"kudzu/internal/handle"
	"kudzu/internal/hostmem"
	"kudzu/internal/lockrank"
	"kudzu/internal/spec/fb"
)

// Thread is the calling thread; its methods are the functions of nvFatbin.
type Thread driver.Thread

// Result is a result code as an error.
type Result fb.NvFatbinResult

func (r Result) Error() string { return "nvFatbin error " + strconv.Itoa(int(r)) }

// Code is the number C gets for an error.
func Code(err error) int32 {
	var r Result
	switch {
	case err == nil:
		return 0
	case errors.As(err, &r):
		return int32(r)
	}
	return int32(internal)
}

// The codes this package gives.
const (
	internal  = Result(fb.NVFATBIN_ERROR_INTERNAL)
	otherArch = Result(fb.NVFATBIN_ERROR_ELF_ARCH_MISMATCH)
	otherSize = Result(fb.NVFATBIN_ERROR_ELF_SIZE_MISMATCH)
	noVersion = Result(fb.NVFATBIN_ERROR_MISSING_PTX_VERSION)
	null      = Result(fb.NVFATBIN_ERROR_NULL_POINTER)
	badOption = Result(fb.NVFATBIN_ERROR_UNRECOGNIZED_OPTION)
	badArch   = Result(fb.NVFATBIN_ERROR_INVALID_ARCH)
	badIR     = Result(fb.NVFATBIN_ERROR_INVALID_NVVM)
	empty     = Result(fb.NVFATBIN_ERROR_EMPTY_INPUT)
	badIndex  = Result(fb.NVFATBIN_ERROR_INVALID_INDEX)
	usedName  = Result(fb.NVFATBIN_ERROR_IDENTIFIER_REUSE)
)

// binary is one fat binary.
type binary struct {
	mu     lockrank.Mutex[lockrank.FatBinary]
	opts   options
	parts  []fatbin.Part // guarded by mu, as what follows
	result []byte        // since its size was last asked for
}

var binaries = handle.NewTable[binary](handle.NvFatbinHandle, "nvFatbin handles")

func find(h fb.NvFatbinHandle) (*binary, error) {
	if h == 0 {
		return nil, null
	}
	if b := binaries.Get(handle.Value(h)); b != nil {
		return b, nil
	}
	return nil, internal
}

// Flags of an entry that options set.
const (
	flagCUDA    = 0x4
	flagOpenCL  = 0x8
	flagMac     = 0x20
	flagWindows = 0x40
)

// options are what a fat binary is made with.
type options struct {
	narrow bool   // -32
	flags  uint64 // of every entry
	host   uint64
	plain  bool // -compress=false
	mode   string
	all    bool
}

var hosts = map[string]uint64{"linux": fatbin.FlagLinux, "mac": flagMac, "windows": flagWindows}

var defaults = options{host: fatbin.FlagLinux, mode: "default"}

// read takes options. All stay as they were if one is bad.
func (o *options) read(words []string) error {
	next := *o
	wide := false
	for _, w := range words {
		name, value, valued := strings.Cut(w, "=")
		ok := !valued
		switch name {
		case "-32":
			next.narrow = true
		case "-64":
			wide = true
		case "-cuda":
			next.flags |= flagCUDA
		case "-opencl":
			next.flags |= flagOpenCL
		case "-g":
			next.flags |= fatbin.FlagDebug
		case "-compress-all":
			next.all = true
		case "-c", "-concat": // entries one by one are as good
		case "-compress":
			next.plain, ok = value == "false", value == "true" || value == "false"
		case "-compress-mode":
			next.mode = value
			ok = value == "default" || value == "size" || value == "speed" || value == "balance" || value == "none"
		case "-host":
			next.host, ok = hosts[value]
		default:
			ok = false
		}
		if !ok {
			return badOption
		}
	}
	if next.narrow && wide || next.flags&flagCUDA != 0 && next.flags&flagOpenCL != 0 {
		return badOption
	}
	*o = next
	return nil
}

// entry are the flags of an entry; one that is text is compressed, the rest if that was asked for.
func (o *options) entry(text bool) uint64 {
	flags := o.flags | o.host
	if !o.narrow {
		flags |= fatbin.Flag64Bit
	}
	if o.mode != "none" && (o.all || o.mode == "size" || text && !o.plain) {
		flags |= fatbin.FlagLZ4
	}
	return flags
}

// maxOptions bounds what a program may pass.
const maxOptions = 1 << 16

// Create begins a fat binary. Bad options are an error that leaves a handle, without them.
func (t *Thread) Create(out, list hostmem.Ptr, n uint64) error {
	if out == hostmem.Nil {
		return null
	}
	b := &binary{opts: defaults}
	words, err := readOptions(list, n)
	if err == nil {
		err = b.opts.read(words)
	}
	h := binaries.New(b)
	if h == 0 {
		return internal
	}
	hostmem.Store(out, uint64(h))
	return err
}

func readOptions(list hostmem.Ptr, n uint64) ([]string, error) {
	switch {
	case n > 0 && list == hostmem.Nil:
		return nil, null
	case n > maxOptions:
		return nil, badOption
	}
	var words []string
	for i := range int(n) {
		p := hostmem.Load[hostmem.Ptr](list.Index(i, 8))
		if p == hostmem.Nil {
			return nil, null
		}
		words = append(words, hostmem.String(p))
	}
	return words, nil
}

// Destroy ends a fat binary.
func (t *Thread) Destroy(at hostmem.Ptr) error {
	if at == hostmem.Nil {
		return null
	}
	h := hostmem.Load[fb.NvFatbinHandle](at)
	if _, err := find(h); err != nil {
		return err
	}
	if binaries.Delete(handle.Value(h)) == nil {
		return internal
	}
	hostmem.Store(at, uint64(0))
	return nil
}

// Version12 is the release of the library for CUDA 12.
func (t *Thread) Version12() (major, minor uint32, err error) { return 12, 9, nil }

// Version13 is the release of the library for CUDA 13.
func (t *Thread) Version13() (major, minor uint32, err error) { return 13, 4, nil }

// Size makes the fat binary and tells its size.
func (t *Thread) Size(h fb.NvFatbinHandle, out hostmem.Ptr) error {
	b, err := find(h)
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return null
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.result, err = fatbin.Write(b.parts); err != nil {
		return internal
	}
	hostmem.Store(out, uint64(len(b.result)))
	return nil
}

// Get writes what Size has made.
func (t *Thread) Get(h fb.NvFatbinHandle, out hostmem.Ptr) error {
	b, err := find(h)
	if err != nil {
		return err
	}
	if out == hostmem.Nil {
		return null
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.result == nil {
		return internal
	}
	copy(hostmem.Bytes(out, uint64(len(b.result))), b.result)
	return nil
}
