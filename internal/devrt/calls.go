package devrt

import "strings"

// Call is a function of CUDA's device runtime that kernels may call without a definition.
type Call struct {
	Name string // without prefix and suffix
	Args string // each 'l' 64 bits, 'w' 32 bits, 'd' three words: a dim3. What comes behind them is not looked at.
	// Grid: it works on what the grid has launched, or on a thread's last error.
	Grid bool
}

// Calls are these functions; the engine's kz_device_call has the same order. The first answers an address, the others an error code.
var Calls = [...]Call{
	{"GetParameterBufferV2", "lddw", true},
	{"LaunchDeviceV2", "ll", true},
	{"GetLastError", "", true},
	{"PeekAtLastError", "", true},
	{"StreamCreateWithFlags", "l", true},
	{"EventCreateWithFlags", "l", true},
	{"Malloc", "ll", true},
	{"Free", "l", false},
	{"StreamDestroy", "", false},
	{"StreamWaitEvent", "", false},
	{"EventDestroy", "", false},
	{"EventRecord", "", false},
	{"EventRecordWithFlags", "", false},
	{"GetDevice", "l", false},
	{"GetDeviceCount", "l", false},
	{"MemcpyAsync", "lll", false},
	{"MemsetAsync", "lwl", false},
	{"GraphSetConditional", "lw", false},
}

// CallOf is the index in Calls of the function that a name in PTX means, -1 if it is none. PTX has them with the prefix cuda,
// with __cudaCDP2 since CUDA 12, and with _ptsz behind in programs built for per-thread default streams.
func CallOf(name string) int {
	rest, ok := strings.CutPrefix(name, "__cudaCDP2")
	if !ok {
		rest, ok = strings.CutPrefix(name, "cuda")
	}
	if !ok {
		return -1
	}
	rest = strings.TrimSuffix(rest, "_ptsz")
	for i := range Calls {
		if Calls[i].Name == rest {
			return i
		}
	}
	return -1
}
