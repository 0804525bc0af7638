package driver

import (
	"kudzu/internal/backend"
	"kudzu/internal/driver/occupancy"
	"kudzu/internal/spec/cu"
)

// Limits that are the same on every device.
const (
	maxPitch   = 1<<31 - 1
	pitchAlign = 512 // of rows from cuMemAllocPitch, and of textures
)

// attr computes one attribute of a device.
type attr func(*backend.Info) int

func num(n int) attr { return func(*backend.Info) int { return n } }

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// oneMemory reports whether host and device have one memory: each may touch what is the other's.
func oneMemory(i *backend.Info) bool { return i.HostPointers && i.HostVisible }

// hopper is a feature of compute capability 9.0 that every backend has which claims so much.
func hopper(i *backend.Info) int { return truth(i.Major >= 9) }

// byMemory has the attributes that follow from what a device's memory offers, whatever the device says.
var byMemory = map[cu.CUdevice_attribute]func(*Device) bool{
	cu.CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED:        func(d *Device) bool { return d.virtual() != nil },
	cu.CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:               func(d *Device) bool { return d.virtual() != nil }, // taken and told; nothing is compressed
	cu.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: func(d *Device) bool { return d.files() != nil },
	cu.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:                         func(d *Device) bool { return d.files() != nil },
	cu.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:              func(d *Device) bool { return d.files() != nil }, // 1: files
}

// deviceAttrs has every attribute that CUDA 13.4 knows. What depends on the device comes from its Info; the rest is what
// a device of compute capability 9.0 answers (recorded on an H200), except that features which this driver does not
// offer are 0, so that a program takes its other path.
var deviceAttrs = [...]attr{
	cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:                         func(i *backend.Info) int { return i.MaxThreads },
	cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:                               func(i *backend.Info) int { return i.MaxBlock[0] },
	cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:                               func(i *backend.Info) int { return i.MaxBlock[1] },
	cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:                               func(i *backend.Info) int { return i.MaxBlock[2] },
	cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:                                func(i *backend.Info) int { return i.MaxGrid[0] },
	cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:                                func(i *backend.Info) int { return i.MaxGrid[1] },
	cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:                                func(i *backend.Info) int { return i.MaxGrid[2] },
	cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:                   func(i *backend.Info) int { return i.SharedBlock },
	cu.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:                         func(i *backend.Info) int { return i.ConstBytes },
	cu.CU_DEVICE_ATTRIBUTE_WARP_SIZE:                                     func(i *backend.Info) int { return i.WarpSize },
	cu.CU_DEVICE_ATTRIBUTE_MAX_PITCH:                                     num(maxPitch),
	cu.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:                       func(i *backend.Info) int { return i.Registers },
	cu.CU_DEVICE_ATTRIBUTE_CLOCK_RATE:                                    func(i *backend.Info) int { return i.ClockKHz },
	cu.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:                             num(pitchAlign),
	cu.CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:                                   num(1),
	cu.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:                          func(i *backend.Info) int { return i.Processors },
	cu.CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT:                           func(i *backend.Info) int { return truth(i.Timeout > 0) },
	cu.CU_DEVICE_ATTRIBUTE_INTEGRATED:                                    func(i *backend.Info) int { return truth(i.Integrated) },
	cu.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:                           num(1),
	cu.CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:                                  num(0),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH:                       num(131072),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH:                       num(131072),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT:                      num(65536),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH:                       num(16384),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT:                      num(16384),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH:                       num(16384),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH:               num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT:              num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS:              num(2048),
	cu.CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:                             num(512),
	cu.CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:                            num(1),
	cu.CU_DEVICE_ATTRIBUTE_ECC_ENABLED:                                   num(0), // no ECC to speak of
	cu.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:                                    func(i *backend.Info) int { return i.PCI[1] },
	cu.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:                                 func(i *backend.Info) int { return i.PCI[2] },
	cu.CU_DEVICE_ATTRIBUTE_TCC_DRIVER:                                    num(0),
	cu.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:                             func(i *backend.Info) int { return i.MemoryKHz },
	cu.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:                       func(i *backend.Info) int { return i.BusWidth },
	cu.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:                                 func(i *backend.Info) int { return i.L2Bytes },
	cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:                func(i *backend.Info) int { return i.ThreadsPerSM },
	cu.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:                            num(3),
	cu.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:                            num(1),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH:               num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS:              num(2048),
	cu.CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER:                              num(1),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH:                num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT:               num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE:             num(8192),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE:            num(8192),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE:             num(32768),
	cu.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:                                 func(i *backend.Info) int { return i.PCI[0] },
	cu.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:                       num(32),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH:                  num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH:          num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS:         num(2046),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH:                       num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH:                       num(131072),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT:                      num(65536),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH:                       num(16384),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT:                      num(16384),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH:                       num(16384),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH:               num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS:              num(2048),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH:               num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT:              num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS:              num(2048),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH:                  num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH:          num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS:         num(2046),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH:                num(268435456),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH:                num(131072),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT:               num(65000),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH:                num(2097120),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH:             num(32768),
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT:            num(32768),
	cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:                      func(i *backend.Info) int { return i.Major },
	cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:                      func(i *backend.Info) int { return i.Minor },
	cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH:             num(32768),
	cu.CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:                   num(1),
	cu.CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:                     num(1),
	cu.CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:                      num(1),
	cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:          func(i *backend.Info) int { return i.SharedSM },
	cu.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:              func(i *backend.Info) int { return i.Registers },
	cu.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:                                num(1),
	cu.CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD:                               num(0),
	cu.CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID:                      num(0),
	cu.CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED:                  func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:         num(2),
	cu.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:                        func(i *backend.Info) int { return truth(i.HostPointers) },
	cu.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:                     num(1),
	cu.CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:                  num(1),
	cu.CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:       num(1),
	cu.CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:                     func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:              func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:              func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:                            func(i *backend.Info) int { return truth(i.Cooperative) },
	cu.CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH:               num(0), // cuLaunchCooperativeKernelMultiDevice is not offered
	cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:             func(i *backend.Info) int { return i.SharedOptin },
	cu.CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES:                       num(0),
	cu.CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:                       num(1),
	cu.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:  func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST:           func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED:          num(0), // what depends on a device's memory: byMemory
	cu.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:   num(0),
	cu.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:            num(0),
	cu.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED:        num(0),
	cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:                 func(i *backend.Info) int { return i.BlocksPerSM },
	cu.CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:                 num(0),
	cu.CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:                  func(i *backend.Info) int { return i.L2Bytes / 2 }, // a hint: nothing is set apart
	cu.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE:                 num(128 << 20),
	cu.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:       num(0),
	cu.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:              num(occupancy.ReservedShared),
	cu.CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED:                   num(0),
	cu.CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:             num(1),
	cu.CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED:          num(0),
	cu.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:                        num(1),
	cu.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:                     num(0),
	cu.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS:          num(0),
	cu.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING:               num(0),
	cu.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:                num(0),
	cu.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:                                hopper,
	cu.CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED:         num(0),
	cu.CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:                 func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:                 func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:                             num(0),
	cu.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:                           num(0),
	cu.CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT:                         num(4),
	cu.CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:                   hopper,
	cu.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:                  num(0),
	cu.CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS:                     num(0),
	cu.CU_DEVICE_ATTRIBUTE_NUMA_CONFIG:                                   num(0),
	cu.CU_DEVICE_ATTRIBUTE_NUMA_ID:                                       num(-1),
	cu.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:                           num(0),
	cu.CU_DEVICE_ATTRIBUTE_MPS_ENABLED:                                   num(0),
	cu.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:                                  num(0),
	cu.CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED:                           num(0),
	cu.CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK:                 num(0),
	cu.CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH:                 num(0),
	cu.CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED:                          num(0),
	cu.CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID:                             num(0), // no PCI identity of a vendor
	cu.CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID:                          num(0),
	cu.CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED:              func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED:             num(0),
	cu.CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED:                   func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:      func(i *backend.Info) int { return truth(oneMemory(i)) },
	cu.CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED:                  num(0),
	cu.CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED:     num(0),

	// Of 13.1 and newer: nothing is recorded of them. The whole device is one domain.
	cu.CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED:                                num(0),
	cu.CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT:                                     num(1),
	cu.CU_DEVICE_ATTRIBUTE_MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK:                     num(0),
	cu.CU_DEVICE_ATTRIBUTE_D3D12_CIG_STREAMS_SUPPORTED:                               num(0),
	cu.CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED:                                    num(0),
	cu.CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED:                        num(0),
	cu.CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_MULTICAST_SUPPORTED:                      num(0),
	cu.CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED:                    num(0),
	cu.CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED: num(0),
	cu.CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT:                      func(i *backend.Info) int { return i.Processors },
	cu.CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES:                   num(0),
	cu.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED:           num(0),
}
