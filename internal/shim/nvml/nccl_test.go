package nvml

import (
	"errors"
	"strings"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/nv"
)

// TestTopology asks what NCCL asks before it connects devices: each refusal must be the one that it takes for "there is no such link".
func TestTopology(t *testing.T) {
	th, h := onCPU(t)
	p := hostmem.Of(&page[0])
	for _, what := range []nv.NvmlGpuP2PCapsIndex_t{nv.NVML_P2P_CAPS_INDEX_READ, nv.NVML_P2P_CAPS_INDEX_WRITE} {
		if s, err := th.DeviceGetP2PStatus(h, h+1, what); err != nil || s != nv.NVML_P2P_STATUS_OK {
			t.Errorf("peers %v, %v", s, err)
		}
		if _, err := th.DeviceGetP2PStatus(h, h, what); err != nil {
			t.Errorf("its own peer: %v", err)
		}
	}
	at, err := th.Bus(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, bus := range []string{BusText(at), strings.ToLower(BusText(at)[4:])} { // as NVML and as CUDA write it
		if g, err := th.DeviceGetHandleByPciBusId(bus); err != nil || g != h+1 {
			t.Errorf("%s: %v, %v", bus, g, err)
		}
	}
	const linkState, chipLinks, newest = 165, 170, 307
	for i, id := range []uint32{linkState, chipLinks, newest} {
		hostmem.Store(p.Index(i, 40), nv.NvmlFieldValue_t{FieldId: id})
	}
	if err := th.DeviceGetFieldValues(h, 3, p); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if f := hostmem.Load[nv.NvmlFieldValue_t](p.Index(i, 40)); f.NvmlReturn != nv.NVML_ERROR_NOT_SUPPORTED {
			t.Errorf("field %d: %d", f.FieldId, f.NvmlReturn)
		}
	}
	hostmem.Store(p, nv.NvmlGpuFabricInfo_v2_t{Version: version(36, 2), State: 3})
	if err := th.DeviceGetGpuFabricInfoV(h, p); err != nil || hostmem.Load[nv.NvmlGpuFabricInfo_v2_t](p).State != 0 {
		t.Errorf("fabric %+v, %v", hostmem.Load[nv.NvmlGpuFabricInfo_v2_t](p), err)
	}
	hostmem.Store(p, nv.NvmlSystemConfComputeSettings_v1_t{Version: version(20, 1), CcFeature: 7})
	if err := th.SystemGetConfComputeSettings(p); err != nil || hostmem.Load[nv.NvmlSystemConfComputeSettings_v1_t](p).CcFeature != 0 {
		t.Errorf("confidential computing: %v", err)
	}
	generation, err1 := th.DeviceGetCurrPcieLinkGeneration(h)
	most, err2 := th.DeviceGetMaxPcieLinkGeneration(h)
	width, err3 := th.DeviceGetCurrPcieLinkWidth(h)
	rate, err4 := th.DeviceGetPcieSpeed(h)
	if err := errors.Join(err1, err2, err3, err4); err != nil || generation < 3 || generation != most || width != 16 || rate != rates[generation] {
		t.Errorf("the bus: generation %d of %d, %d lanes, %d MT/s, %v", generation, most, width, rate, err)
	}
}
