package bind

import (
	"strings"
	"testing"

	"kudzu/internal/abi"
)

func handler(t *testing.T, name string) abi.Handler {
	t.Helper()
	for _, list := range Handlers {
		for _, h := range list {
			if h.Name == name {
				return h
			}
		}
	}
	t.Fatalf("%s is not bound", name)
	return abi.Handler{}
}

// TestHandlers: numbers and names of handlers are unique, and the first calls of every
// program are there.
func TestHandlers(t *testing.T) {
	seen := map[string]bool{}
	for api, list := range Handlers {
		for i, h := range list {
			if h.Call == nil || seen[h.Name] {
				t.Errorf("handler %d of interface %d, %s", i, api, h.Name)
			}
			seen[h.Name] = true
		}
	}
	for _, name := range strings.Fields("cuInit cuDeviceGetCount cuDeviceGet cuCtxCreate_v2 cuMemAlloc_v2 cuModuleLoadData cuLaunchKernel") {
		handler(t, name)
	}
}

// nvmlClients are programs that read NVML, and the functions that they look for beside Init, Shutdown and ErrorString.
var nvmlClients = map[string]string{
	"nvtop": `DeviceGetCount_v2 DeviceGetHandleByIndex_v2 DeviceGetName DeviceGetPciInfo_v3 DeviceGetClockInfo DeviceGetMaxClockInfo DeviceGetTemperatureThreshold
		DeviceGetCurrPcieLinkGeneration DeviceGetCurrPcieLinkWidth DeviceGetMaxPcieLinkGeneration DeviceGetMaxPcieLinkWidth DeviceGetPcieThroughput DeviceGetFanSpeed
		DeviceGetTemperature DeviceGetPowerUsage DeviceGetEnforcedPowerLimit DeviceGetEncoderUtilization DeviceGetDecoderUtilization DeviceGetMigMode
		DeviceGetGraphicsRunningProcesses_v3 DeviceGetComputeRunningProcesses_v3 DeviceGetMPSComputeRunningProcesses_v3 DeviceGetProcessUtilization
		DeviceGetUtilizationRates DeviceGetMemoryInfo_v2`,
	"gpustat": `SystemGetDriverVersion DeviceGetIndex DeviceGetUUID DeviceGetName DeviceGetFanSpeed DeviceGetTemperature DeviceGetMemoryInfo_v2 DeviceGetUtilizationRates
		DeviceGetEncoderUtilization DeviceGetDecoderUtilization DeviceGetPowerUsage DeviceGetEnforcedPowerLimit DeviceGetComputeRunningProcesses_v3
		DeviceGetGraphicsRunningProcesses_v3`,
	"nvitop": `SystemGetCudaDriverVersion DeviceGetSerial DeviceGetBAR1MemoryInfo DeviceGetConfComputeMemSizeInfo DeviceGetCudaComputeCapability DeviceGetComputeMode
		DeviceGetDisplayActive DeviceGetDisplayMode DeviceGetDriverModel_v2 DeviceGetPersistenceMode DeviceGetPerformanceState DeviceGetTotalEccErrors DeviceGetFieldValues
		DeviceGetTemperatureV DeviceGetRunningProcessDetailList DeviceIsMigDeviceHandle DeviceGetMaxMigDeviceCount DeviceGetMigDeviceHandleByIndex
		DeviceGetDeviceHandleFromMigDeviceHandle DeviceGetGpuInstanceId DeviceGetComputeInstanceId DeviceGetPowerManagementLimit`,
	"example.py of nvidia-ml-py": "DeviceGetBrand DeviceGetGridLicensableFeatures_v4 DeviceGetVirtualizationMode DeviceGetSerial",
	"PyTorch": `DeviceGetCount_v2 DeviceGetHandleByIndex_v2 DeviceGetHandleByPciBusId_v2 DeviceGetUUID DeviceGetUtilizationRates DeviceGetTemperature DeviceGetPowerUsage
		DeviceGetClockInfo DeviceGetComputeRunningProcesses DeviceGetComputeRunningProcesses_v3 DeviceGetNvLinkRemotePciInfo_v2 DeviceGetNvLinkRemoteDeviceType
		DeviceGetGpuFabricInfoV SystemGetCudaDriverVersion_v2`,
	"NCCL": `DeviceGetCount_v2 DeviceGetHandleByIndex DeviceGetHandleByPciBusId DeviceGetIndex DeviceGetNvLinkState DeviceGetNvLinkRemotePciInfo DeviceGetNvLinkCapability
		DeviceGetCudaComputeCapability DeviceGetP2PStatus DeviceGetFieldValues DeviceGetPciInfo_v3 DeviceGetPciInfoExt DeviceGetPcieLinkMaxSpeed
		DeviceGetCurrPcieLinkGeneration DeviceGetCurrPcieLinkWidth DeviceGetGpuFabricInfoV DeviceGetPlatformInfo SystemGetConfComputeState SystemGetConfComputeSettings`,
}

// TestClients: whatever they look for is answered.
func TestClients(t *testing.T) {
	for client, names := range nvmlClients {
		t.Run(client, func(t *testing.T) {
			for _, name := range strings.Fields(names) {
				handler(t, "nvml"+name)
			}
		})
	}
}
