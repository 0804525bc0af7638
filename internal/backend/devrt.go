package backend

import "strings"

// deviceRuntime are the functions of CUDA's device runtime that kernels may call, without prefix and suffix.
var deviceRuntime = map[string]bool{
	"GetParameterBufferV2": true, "LaunchDeviceV2": true, "GetLastError": true, "PeekAtLastError": true,
	"StreamCreateWithFlags": true, "StreamDestroy": true, "StreamWaitEvent": true,
	"EventCreateWithFlags": true, "EventDestroy": true, "EventRecord": true, "EventRecordWithFlags": true,
	"GetDevice": true, "GetDeviceCount": true, "Malloc": true, "Free": true, "MemcpyAsync": true, "MemsetAsync": true,
	"GraphSetConditional": true,
}

// DeviceRuntime is the function of the device runtime that a name in PTX means, "" if it is none. PTX has them with the prefix
// cuda, with __cudaCDP2 since CUDA 12, and with _ptsz behind in programs built for per-thread default streams.
func DeviceRuntime(name string) string {
	rest, ok := strings.CutPrefix(name, "__cudaCDP2")
	if !ok {
		rest, ok = strings.CutPrefix(name, "cuda")
	}
	if rest = strings.TrimSuffix(rest, "_ptsz"); ok && deviceRuntime[rest] {
		return rest
	}
	return ""
}

// DeviceRuntimeNames lists them.
func DeviceRuntimeNames() []string {
	var names []string
	for n := range deviceRuntime {
		names = append(names, n)
	}
	return names
}
