package trace

import (
	"strconv"
	"strings"

	"kudzu/internal/spec"
)

// flagWords says which names the bits of a plain number have: those of an enumeration, or the constants that begin so. The
// interface says so in prose only.
var flagWords = map[string]string{
	"cuStreamCreate": "CUstream_flags", "cuStreamCreateWithPriority": "CUstream_flags", "cuEventCreate": "CUevent_flags",
	"cuEventRecordWithFlags": "CUevent_record_flags", "cuStreamWaitEvent": "CUevent_wait_flags",
	"cuCtxCreate": "CUctx_flags", "cuDevicePrimaryCtxSetFlags": "CUctx_flags", "cuMemAllocManaged": "CUmemAttach_flags", "cuStreamAttachMemAsync": "CUmemAttach_flags",
	"cuMemHostAlloc": "CU_MEMHOSTALLOC_", "cuMemHostRegister": "CU_MEMHOSTREGISTER_", "cuGraphInstantiateWithFlags": "CUgraphInstantiate_flags",
	"cudaStreamCreateWithFlags": "cudaStream", "cudaStreamCreateWithPriority": "cudaStream", "cudaEventCreateWithFlags": "cudaEvent",
	"cudaHostAlloc": "cudaHostAlloc", "cudaHostRegister": "cudaHostRegister", "cudaMallocManaged": "cudaMemAttach", "cudaSetDeviceFlags": "cudaDevice",
}

// flagsOf are the names of a parameter's bits, nil where it has none.
func flagsOf(of *face, base string, p spec.Param) *enumNames {
	word := flagWords[base]
	if word == "" || !strings.EqualFold(p.Name, "flags") {
		return nil
	}
	if e := of.scope.Enum(&spec.Type{Name: word}); e != nil {
		return namesOf(e, of.major)
	}
	n := &enumNames{names: map[int64]string{}}
	for _, c := range of.api.Consts {
		v, err := strconv.ParseInt(c.Value, 0, 64)
		if err != nil || c.Type != nil || !strings.HasPrefix(c.Name, word) || !c.In(of.major) || strings.HasSuffix(c.Name, "Mask") || n.names[v] != "" {
			continue
		}
		if strings.HasPrefix(c.Name, word+"Record") || strings.HasPrefix(c.Name, word+"Wait") { // of other functions
			continue
		}
		n.names[v] = c.Name
		if v > 0 && v&(v-1) == 0 {
			n.bits = append(n.bits, spec.EnumValue{Name: c.Name, Value: v})
		}
	}
	if len(n.names) == 0 {
		return nil
	}
	return n
}
