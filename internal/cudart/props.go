package cudart

import (
	"reflect"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// propRows says for every property but the few that are no attributes where its numbers come from. The structure has two
// layouts, CUDA 12's and 13's, which share the names of their fields; so one table fills both.
var propRows = map[string][]cu.CUdevice_attribute{
	"RegsPerBlock":                           {cu.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
	"WarpSize":                               {cu.CU_DEVICE_ATTRIBUTE_WARP_SIZE},
	"MemPitch":                               {cu.CU_DEVICE_ATTRIBUTE_MAX_PITCH},
	"MaxThreadsPerBlock":                     {cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
	"MaxThreadsDim":                          {cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
	"MaxGridSize":                            {cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
	"SharedMemPerBlock":                      {cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
	"ClockRate":                              {cu.CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
	"TotalConstMem":                          {cu.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
	"Major":                                  {cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
	"Minor":                                  {cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
	"TextureAlignment":                       {cu.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
	"TexturePitchAlignment":                  {cu.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT},
	"DeviceOverlap":                          {cu.CU_DEVICE_ATTRIBUTE_GPU_OVERLAP},
	"MultiProcessorCount":                    {cu.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
	"KernelExecTimeoutEnabled":               {cu.CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT},
	"Integrated":                             {cu.CU_DEVICE_ATTRIBUTE_INTEGRATED},
	"CanMapHostMemory":                       {cu.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
	"ComputeMode":                            {cu.CU_DEVICE_ATTRIBUTE_COMPUTE_MODE},
	"MaxTexture1D":                           {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH},
	"MaxTexture1DMipmap":                     {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH},
	"MaxTexture1DLinear":                     {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH},
	"MaxTexture2D":                           {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT},
	"MaxTexture2DMipmap":                     {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT},
	"MaxTexture2DLinear":                     {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH},
	"MaxTexture2DGather":                     {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT},
	"MaxTexture3D":                           {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH},
	"MaxTexture3DAlt":                        {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE},
	"MaxTextureCubemap":                      {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH},
	"MaxTexture1DLayered":                    {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS},
	"MaxTexture2DLayered":                    {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS},
	"MaxTextureCubemapLayered":               {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS},
	"MaxSurface1D":                           {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH},
	"MaxSurface2D":                           {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT},
	"MaxSurface3D":                           {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH},
	"MaxSurface1DLayered":                    {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS},
	"MaxSurface2DLayered":                    {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS},
	"MaxSurfaceCubemap":                      {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH},
	"MaxSurfaceCubemapLayered":               {cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, cu.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS},
	"SurfaceAlignment":                       {cu.CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT},
	"ConcurrentKernels":                      {cu.CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
	"ECCEnabled":                             {cu.CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
	"PciBusID":                               {cu.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
	"PciDeviceID":                            {cu.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
	"PciDomainID":                            {cu.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
	"TccDriver":                              {cu.CU_DEVICE_ATTRIBUTE_TCC_DRIVER},
	"AsyncEngineCount":                       {cu.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
	"UnifiedAddressing":                      {cu.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
	"MemoryClockRate":                        {cu.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
	"MemoryBusWidth":                         {cu.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
	"L2CacheSize":                            {cu.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
	"PersistingL2CacheMaxSize":               {cu.CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE},
	"MaxThreadsPerMultiProcessor":            {cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
	"StreamPrioritiesSupported":              {cu.CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
	"GlobalL1CacheSupported":                 {cu.CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED},
	"LocalL1CacheSupported":                  {cu.CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED},
	"SharedMemPerMultiprocessor":             {cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
	"RegsPerMultiprocessor":                  {cu.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
	"ManagedMemory":                          {cu.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
	"IsMultiGpuBoard":                        {cu.CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD},
	"MultiGpuBoardGroupID":                   {cu.CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID},
	"HostNativeAtomicSupported":              {cu.CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
	"SingleToDoublePrecisionPerfRatio":       {cu.CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO},
	"PageableMemoryAccess":                   {cu.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
	"ConcurrentManagedAccess":                {cu.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
	"ComputePreemptionSupported":             {cu.CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED},
	"CanUseHostPointerForRegisteredMem":      {cu.CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
	"CooperativeLaunch":                      {cu.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
	"CooperativeMultiDeviceLaunch":           {cu.CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH},
	"SharedMemPerBlockOptin":                 {cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
	"PageableMemoryAccessUsesHostPageTables": {cu.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES},
	"DirectManagedMemAccessFromHost":         {cu.CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST},
	"MaxBlocksPerMultiProcessor":             {cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
	"AccessPolicyMaxWindowSize":              {cu.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE},
	"ReservedSharedMemPerBlock":              {cu.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
	"HostRegisterSupported":                  {cu.CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
	"SparseCudaArraySupported":               {cu.CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED},
	"HostRegisterReadOnlySupported":          {cu.CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED},
	"TimelineSemaphoreInteropSupported":      {cu.CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED},
	"MemoryPoolsSupported":                   {cu.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
	"GpuDirectRDMASupported":                 {cu.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
	"GpuDirectRDMAFlushWritesOptions":        {cu.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS},
	"GpuDirectRDMAWritesOrdering":            {cu.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING},
	"MemoryPoolSupportedHandleTypes":         {cu.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES},
	"DeferredMappingCudaArraySupported":      {cu.CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED},
	"IpcEventSupported":                      {cu.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED},
	"ClusterLaunch":                          {cu.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH},
	"UnifiedFunctionPointers":                {cu.CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS},
	"DeviceNumaConfig":                       {cu.CU_DEVICE_ATTRIBUTE_NUMA_CONFIG},
	"DeviceNumaId":                           {cu.CU_DEVICE_ATTRIBUTE_NUMA_ID},
	"MpsEnabled":                             {cu.CU_DEVICE_ATTRIBUTE_MPS_ENABLED},
	"HostNumaId":                             {cu.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID},
	"GpuPciDeviceID":                         {cu.CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID},
	"GpuPciSubsystemID":                      {cu.CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID},
	"HostNumaMultinodeIpcSupported":          {cu.CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED},
}

// fillProps fills a structure of properties by the names of its fields.
func fillProps(d *driver.Thread, dev int32, props reflect.Value) error {
	for name, attrs := range propRows {
		f := props.FieldByName(name)
		if !f.IsValid() {
			continue // of the other layout
		}
		for i, a := range attrs {
			v, err := d.DeviceGetAttribute(a, dev)
			if err != nil {
				return err
			}
			to := f
			if f.Kind() == reflect.Array {
				to = f.Index(i)
			}
			if to.CanInt() {
				to.SetInt(int64(v))
			} else {
				to.SetUint(uint64(v))
			}
		}
	}
	return nil
}

// identity is what properties have beside attributes.
type identity struct {
	name [256]byte
	uuid [16]byte
	size uint64
}

func (t *Thread) identity(dev int32) (d *driver.Thread, id identity, err error) {
	if d, err = t.started(); err != nil {
		return nil, id, err
	}
	name, err := d.DeviceName(dev)
	if err != nil {
		return nil, id, err
	}
	copy(id.name[:len(id.name)-1], name)
	u, err := d.DeviceGetUuid(dev)
	if err != nil {
		return nil, id, err
	}
	id.uuid = u.Bytes
	id.size, err = d.DeviceTotalMem(dev)
	return d, id, err
}

// GetDeviceProperties tells everything about a device.
func (t *Thread) GetDeviceProperties(dev int32) (p rt.CudaDeviceProp, err error) {
	d, id, err := t.identity(dev)
	if err != nil {
		return p, err
	}
	p.Name, p.Uuid.Bytes, p.TotalGlobalMem = id.name, id.uuid, id.size
	return p, fillProps(d, dev, reflect.ValueOf(&p).Elem())
}

// GetDeviceProperties12 is GetDeviceProperties in CUDA 12's layout.
func (t *Thread) GetDeviceProperties12(dev int32) (p rt.CudaDeviceProp_12, err error) {
	d, id, err := t.identity(dev)
	if err != nil {
		return p, err
	}
	p.Name, p.Uuid.Bytes, p.TotalGlobalMem = id.name, id.uuid, id.size
	return p, fillProps(d, dev, reflect.ValueOf(&p).Elem())
}

// oldProps is where CUDA 11's structure ends: 12 put its new fields behind.
var oldProps = func() uint64 {
	f, _ := reflect.TypeFor[rt.CudaDeviceProp_12]().FieldByName("HostRegisterSupported")
	return uint64(f.Offset)
}()

// GetDevicePropertiesOld is GetDeviceProperties for programs built with CUDA 11's headers, whose structure is shorter.
func (t *Thread) GetDevicePropertiesOld(out hostmem.Ptr, dev int32) error {
	if out == hostmem.Nil {
		return errInvalidValue
	}
	p, err := t.GetDeviceProperties12(dev)
	if err == nil {
		hostmem.StorePrefix(out, p, oldProps)
	}
	return err
}
