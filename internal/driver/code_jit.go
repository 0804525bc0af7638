package driver

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/logx"
	"kudzu/internal/ptx"
	"kudzu/internal/spec/cu"
)

// logBuffer is a buffer of the program for messages. Its size is passed and answered in slot, one of the option values.
type logBuffer struct {
	addr hostmem.Ptr
	size uint64
	slot hostmem.Ptr // 0: no size option was given
}

// put writes text and answers its length, or the buffer's size if the text was cut.
func (b *logBuffer) put(text string) {
	n := uint64(len(text))
	if b.size == 0 {
		n = 0
	}
	if b.addr != hostmem.Nil && b.size > 0 {
		size := min(b.size, 1<<30)
		hostmem.PutString(b.addr, int(size), text)
		if n >= size {
			n = b.size
		}
	}
	if b.slot != hostmem.Nil {
		hostmem.Store(b.slot, n)
	}
}

// wanted reports whether anyone will read it.
func (b *logBuffer) wanted() bool { return b.addr != hostmem.Nil && b.size > 0 }

// jit is the options of one load and what it has to say.
type jit struct {
	opts    backend.Options
	target  int // 0: the device's
	verbose bool
	info    logBuffer
	errs    logBuffer
	wall    hostmem.Ptr // slot for the time taken
	start   time.Time
	notes   []string
}

const jitOptions = uint32(cu.CU_JIT_NUM_OPTIONS)

// newJIT reads the options of a call.
func newJIT(n uint32, options, values hostmem.Ptr) (*jit, error) {
	j := &jit{start: time.Now(), opts: backend.Options{OptLevel: -1}}
	if n == 0 {
		return j, nil
	}
	if n > 4*jitOptions || options == hostmem.Nil || values == hostmem.Nil {
		return nil, errInvalidValue
	}
	for i := range int(n) {
		opt := hostmem.Load[cu.CUjit_option](options.Index(i, 4))
		slot := values.Index(i, 8)
		if opt < 0 || uint32(opt) >= jitOptions {
			return nil, errInvalidValue
		}
		j.set(opt, slot, hostmem.Load[uint64](slot))
	}
	return j, nil
}

// set takes one option. Options not listed here tune the vendor's assembler or name what its linker should keep; they do
// not change what code computes.
func (j *jit) set(opt cu.CUjit_option, slot hostmem.Ptr, v uint64) {
	n := int(uint32(v))
	switch opt {
	case cu.CU_JIT_MAX_REGISTERS:
		j.opts.MaxRegisters = n
	case cu.CU_JIT_WALL_TIME:
		j.wall = slot
	case cu.CU_JIT_INFO_LOG_BUFFER:
		j.info.addr = hostmem.Ptr(v)
	case cu.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
		j.info.size, j.info.slot = uint64(uint32(v)), slot
	case cu.CU_JIT_ERROR_LOG_BUFFER:
		j.errs.addr = hostmem.Ptr(v)
	case cu.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
		j.errs.size, j.errs.slot = uint64(uint32(v)), slot
	case cu.CU_JIT_OPTIMIZATION_LEVEL:
		j.opts.OptLevel = min(max(n, 0), 4)
	case cu.CU_JIT_TARGET_FROM_CUCONTEXT:
		j.target = 0
	case cu.CU_JIT_TARGET:
		j.target = n &^ (cu.CU_COMPUTE_ACCELERATED_TARGET_BASE | cu.CU_COMPUTE_FAMILY_TARGET_BASE)
	case cu.CU_JIT_GENERATE_DEBUG_INFO:
		j.opts.Debug = n != 0
	case cu.CU_JIT_LOG_VERBOSE:
		j.verbose = n != 0
	case cu.CU_JIT_GENERATE_LINE_INFO:
		j.opts.LineInfo = n != 0
	case cu.CU_JIT_FAST_COMPILE:
		j.opts.FastCompile = n != 0
	}
}

// note adds a line to the info log.
func (j *jit) note(format string, args ...any) {
	j.notes = append(j.notes, fmt.Sprintf(format, args...))
}

// finish writes the logs and the time, and turns err into a code.
func (j *jit) finish(err error) error {
	text := ""
	code := plain(nil)
	var bad *badImage
	var list ptx.ErrorList
	switch {
	case errors.As(err, &bad):
		text, code = bad.text, bad.code
		if code == errNoBinary { // programs that do not look go on without their kernels
			logx.Once("no PTX", "an image cannot be loaded: %s", strings.TrimPrefix(text, "error   : "))
		}
	case errors.As(err, &list):
		text, code = list.Error(), errInvalidPTX
		if len(list) > 0 && strings.HasPrefix(list[0].Msg, "Unsupported .version") {
			code = errPTXVersion
		}
	case err != nil:
		code = plain(err)
	}
	j.errs.put(text)
	j.info.put(strings.Join(j.notes, "\n"))
	if j.wall != hostmem.Nil {
		ms := float32(time.Since(j.start).Seconds() * 1000)
		hostmem.Store(j.wall, uint64(math.Float32bits(ms)))
	}
	return code
}

func jitFatal(format string, args ...any) error {
	return &badImage{errInvalidPTX, "ptxas fatal   : " + fmt.Sprintf(format, args...)}
}
