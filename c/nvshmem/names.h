// The names of libnvshmem_host.so.3, as NVSHMEM 3.8 exports them. S answers with a status; Z returns nothing, an address or a number.
#define NVSHMEM_PLAIN(S, Z) \
	S(nvshmem_alltoallmem) S(nvshmem_barrier) S(nvshmem_broadcastmem) S(nvshmem_fcollectmem) S(nvshmem_team_destroy) \
	S(nvshmem_team_get_config) S(nvshmem_team_split_2d) \
	S(nvshmem_team_split_strided) S(nvshmem_team_sync) S(nvshmemid_hostlib_finalize) \
	S(nvshmemid_hostlib_init_attr) S(nvshmemx_alltoallmem_on_stream) S(nvshmemx_barrier_on_stream) \
	S(nvshmemx_broadcastmem_on_stream) S(nvshmemx_buffer_register) Z(nvshmemx_buffer_register_symmetric) \
	Z(nvshmemx_buffer_register_symmetric_at_preferred_address) S(nvshmemx_buffer_unregister) \
	S(nvshmemx_buffer_unregister_all) S(nvshmemx_buffer_unregister_symmetric) S(nvshmemx_collective_launch) \
	S(nvshmemx_collective_launch_attr) S(nvshmemx_collective_launch_query_gridsize) S(nvshmemx_culibrary_finalize) \
	S(nvshmemx_culibrary_init) S(nvshmemx_cumodule_finalize) S(nvshmemx_cumodule_init) \
	S(nvshmemx_fcollectmem_on_stream) S(nvshmemx_get_uniqueid) S(nvshmemx_hostlib_finalize) \
	S(nvshmemx_hostlib_init_attr) S(nvshmemx_qp_create) S(nvshmemx_region_is_active) S(nvshmemx_region_start) \
	S(nvshmemx_region_stop) S(nvshmemx_set_attr_mpi_comm_args) S(nvshmemx_set_attr_uniqueid_args) \
	S(nvshmemx_team_get_uniqueid) S(nvshmemx_team_init) S(nvshmemx_team_sync_on_stream) \
	Z(nvshmem_align) Z(nvshmem_barrier_all) Z(nvshmem_calloc) Z(nvshmem_debug_log) Z(nvshmem_fence) Z(nvshmem_free) \
	Z(nvshmem_get128) Z(nvshmem_get128_nbi) Z(nvshmem_get16) Z(nvshmem_get16_nbi) Z(nvshmem_get32) \
	Z(nvshmem_get32_nbi) Z(nvshmem_get64) Z(nvshmem_get64_nbi) Z(nvshmem_get8) Z(nvshmem_get8_nbi) Z(nvshmem_getmem) \
	Z(nvshmem_getmem_nbi) Z(nvshmem_iget128) Z(nvshmem_iget16) Z(nvshmem_iget32) \
	Z(nvshmem_iget64) Z(nvshmem_iget8) Z(nvshmem_iput128) Z(nvshmem_iput16) Z(nvshmem_iput32) Z(nvshmem_iput64) \
	Z(nvshmem_iput8) Z(nvshmem_malloc) Z(nvshmem_ptr) Z(nvshmem_put128) Z(nvshmem_put128_nbi) Z(nvshmem_put16) \
	Z(nvshmem_put16_nbi) Z(nvshmem_put32) Z(nvshmem_put32_nbi) Z(nvshmem_put64) Z(nvshmem_put64_nbi) Z(nvshmem_put8) \
	Z(nvshmem_put8_nbi) Z(nvshmem_putmem) Z(nvshmem_putmem_nbi) Z(nvshmem_query_thread) Z(nvshmem_quiet) \
	Z(nvshmem_signal_fetch) Z(nvshmem_sync_all) Z(nvshmemid_init_status) Z(nvshmemx_barrier_all_on_stream) \
	Z(nvshmemx_flush) Z(nvshmemx_flush_on_stream) Z(nvshmemx_get128_nbi_on_stream) Z(nvshmemx_get128_on_stream) \
	Z(nvshmemx_get16_nbi_on_stream) Z(nvshmemx_get16_on_stream) Z(nvshmemx_get32_nbi_on_stream) \
	Z(nvshmemx_get32_on_stream) Z(nvshmemx_get64_nbi_on_stream) Z(nvshmemx_get64_on_stream) \
	Z(nvshmemx_get8_nbi_on_stream) Z(nvshmemx_get8_on_stream) Z(nvshmemx_getmem_nbi_on_stream) \
	Z(nvshmemx_getmem_on_stream) Z(nvshmemx_iget128_on_stream) Z(nvshmemx_iget16_on_stream) \
	Z(nvshmemx_iget32_on_stream) Z(nvshmemx_iget64_on_stream) Z(nvshmemx_iget8_on_stream) Z(nvshmemx_init_status) \
	Z(nvshmemx_iput128_on_stream) Z(nvshmemx_iput16_on_stream) Z(nvshmemx_iput32_on_stream) \
	Z(nvshmemx_iput64_on_stream) Z(nvshmemx_iput8_on_stream) Z(nvshmemx_mc_ptr) Z(nvshmemx_put128_nbi_on_stream) \
	Z(nvshmemx_put128_on_stream) Z(nvshmemx_put128_signal_nbi_on_stream) Z(nvshmemx_put128_signal_on_stream) \
	Z(nvshmemx_put16_nbi_on_stream) Z(nvshmemx_put16_on_stream) Z(nvshmemx_put16_signal_nbi_on_stream) \
	Z(nvshmemx_put16_signal_on_stream) Z(nvshmemx_put32_nbi_on_stream) Z(nvshmemx_put32_on_stream) \
	Z(nvshmemx_put32_signal_nbi_on_stream) Z(nvshmemx_put32_signal_on_stream) Z(nvshmemx_put64_nbi_on_stream) \
	Z(nvshmemx_put64_on_stream) Z(nvshmemx_put64_signal_nbi_on_stream) Z(nvshmemx_put64_signal_on_stream) \
	Z(nvshmemx_put8_nbi_on_stream) Z(nvshmemx_put8_on_stream) Z(nvshmemx_put8_signal_nbi_on_stream) \
	Z(nvshmemx_put8_signal_on_stream) Z(nvshmemx_putmem_nbi_on_stream) Z(nvshmemx_putmem_on_stream) \
	Z(nvshmemx_putmem_signal_nbi_on_stream) Z(nvshmemx_putmem_signal_on_stream) Z(nvshmemx_quiet_on_stream) \
	Z(nvshmemx_signal_counted_reset) Z(nvshmemx_signal_op_on_stream) Z(nvshmemx_signal_wait_until_on_stream) \
	Z(nvshmemx_sync_all_on_stream)

// The types of the families below.
#define NVSHMEM_RMA(X, p, op) \
	X(p, bfloat16, op) X(p, char, op) X(p, double, op) X(p, float, op) X(p, half, op) X(p, int, op) X(p, int16, op) \
	X(p, int32, op) X(p, int64, op) X(p, int8, op) X(p, long, op) X(p, longlong, op) X(p, ptrdiff, op) X(p, schar, op) \
	X(p, short, op) X(p, size, op) X(p, uchar, op) X(p, uint, op) X(p, uint16, op) X(p, uint32, op) X(p, uint64, op) \
	X(p, uint8, op) X(p, ulong, op) X(p, ulonglong, op) X(p, ushort, op)
#define NVSHMEM_SUM(X, p, op) \
	X(p, bfloat16, op) X(p, char, op) X(p, double, op) X(p, float, op) X(p, half, op) X(p, int, op) X(p, int16, op) \
	X(p, int32, op) X(p, int64, op) X(p, int8, op) X(p, long, op) X(p, longlong, op) X(p, schar, op) X(p, short, op) \
	X(p, size, op) X(p, uchar, op) X(p, uint, op) X(p, uint16, op) X(p, uint32, op) X(p, uint64, op) X(p, uint8, op) \
	X(p, ulong, op) X(p, ulonglong, op) X(p, ushort, op)
#define NVSHMEM_SWAP(X, p, op) \
	X(p, double, op) X(p, float, op) X(p, int, op) X(p, int32, op) X(p, int64, op) X(p, long, op) X(p, longlong, op) \
	X(p, ptrdiff, op) X(p, size, op) X(p, uint, op) X(p, uint32, op) X(p, uint64, op) X(p, ulong, op) \
	X(p, ulonglong, op)
#define NVSHMEM_BITS(X, p, op) \
	X(p, int16, op) X(p, int32, op) X(p, int64, op) X(p, int8, op) X(p, size, op) X(p, uchar, op) X(p, uint, op) \
	X(p, uint16, op) X(p, uint32, op) X(p, uint64, op) X(p, uint8, op) X(p, ulong, op) X(p, ulonglong, op) \
	X(p, ushort, op)
#define NVSHMEM_ADD(X, p, op) \
	X(p, int, op) X(p, int32, op) X(p, int64, op) X(p, long, op) X(p, longlong, op) X(p, ptrdiff, op) X(p, size, op) \
	X(p, uint, op) X(p, uint32, op) X(p, uint64, op) X(p, ulong, op) X(p, ulonglong, op)
#define NVSHMEM_AND(X, p, op) \
	X(p, int32, op) X(p, int64, op) X(p, uint, op) X(p, uint32, op) X(p, uint64, op) X(p, ulong, op) \
	X(p, ulonglong, op)
#define NVSHMEM_REAL(X, p, op) \
	X(p, double, op) X(p, float, op) X(p, half, op)
#define NVSHMEM_WAIT(X, p, op) \
	X(p, int, op) X(p, int32, op) X(p, int64, op) X(p, long, op) X(p, longlong, op) X(p, ptrdiff, op) X(p, short, op) \
	X(p, size, op) X(p, uint, op) X(p, uint32, op) X(p, uint64, op) X(p, ulong, op) X(p, ulonglong, op) \
	X(p, ushort, op)

// Every family: the types, who answers, what stands before and behind the type.
#define NVSHMEM_TYPED(S, Z) \
	NVSHMEM_RMA(Z, nvshmem, g) NVSHMEM_RMA(Z, nvshmem, get) NVSHMEM_RMA(Z, nvshmem, get_nbi) \
	NVSHMEM_RMA(Z, nvshmem, iget) NVSHMEM_RMA(Z, nvshmem, iput) NVSHMEM_RMA(Z, nvshmem, p) \
	NVSHMEM_RMA(Z, nvshmem, put) NVSHMEM_RMA(Z, nvshmem, put_nbi) \
	NVSHMEM_RMA(S, nvshmem, alltoall) NVSHMEM_RMA(S, nvshmem, broadcast) NVSHMEM_RMA(S, nvshmem, fcollect) \
	NVSHMEM_RMA(S, nvshmemx, alltoall_on_stream) NVSHMEM_RMA(S, nvshmemx, broadcast_on_stream) \
	NVSHMEM_RMA(S, nvshmemx, fcollect_on_stream) \
	NVSHMEM_RMA(Z, nvshmemx, g_on_stream) NVSHMEM_RMA(Z, nvshmemx, get_nbi_on_stream) \
	NVSHMEM_RMA(Z, nvshmemx, get_on_stream) NVSHMEM_RMA(Z, nvshmemx, iget_on_stream) \
	NVSHMEM_RMA(Z, nvshmemx, iput_on_stream) NVSHMEM_RMA(Z, nvshmemx, p_on_stream) \
	NVSHMEM_RMA(Z, nvshmemx, put_nbi_on_stream) NVSHMEM_RMA(Z, nvshmemx, put_on_stream) \
	NVSHMEM_RMA(Z, nvshmemx, put_signal_nbi_on_stream) NVSHMEM_RMA(Z, nvshmemx, put_signal_on_stream) \
	NVSHMEM_SUM(S, nvshmem, max_reduce) NVSHMEM_SUM(S, nvshmem, max_reducescatter) NVSHMEM_SUM(S, nvshmem, min_reduce) \
	NVSHMEM_SUM(S, nvshmem, min_reducescatter) NVSHMEM_SUM(S, nvshmem, prod_reduce) \
	NVSHMEM_SUM(S, nvshmem, prod_reducescatter) NVSHMEM_SUM(S, nvshmem, sum_reduce) \
	NVSHMEM_SUM(S, nvshmem, sum_reducescatter) \
	NVSHMEM_SUM(S, nvshmemx, max_reduce_on_stream) NVSHMEM_SUM(S, nvshmemx, max_reducescatter_on_stream) \
	NVSHMEM_SUM(S, nvshmemx, min_reduce_on_stream) NVSHMEM_SUM(S, nvshmemx, min_reducescatter_on_stream) \
	NVSHMEM_SUM(S, nvshmemx, prod_reduce_on_stream) NVSHMEM_SUM(S, nvshmemx, prod_reducescatter_on_stream) \
	NVSHMEM_SUM(S, nvshmemx, sum_reduce_on_stream) NVSHMEM_SUM(S, nvshmemx, sum_reducescatter_on_stream) \
	NVSHMEM_BITS(S, nvshmem, and_reduce) NVSHMEM_BITS(S, nvshmem, and_reducescatter) \
	NVSHMEM_BITS(S, nvshmem, or_reduce) NVSHMEM_BITS(S, nvshmem, or_reducescatter) \
	NVSHMEM_BITS(S, nvshmem, xor_reduce) NVSHMEM_BITS(S, nvshmem, xor_reducescatter) \
	NVSHMEM_BITS(S, nvshmemx, and_reduce_on_stream) NVSHMEM_BITS(S, nvshmemx, and_reducescatter_on_stream) \
	NVSHMEM_BITS(S, nvshmemx, or_reduce_on_stream) NVSHMEM_BITS(S, nvshmemx, or_reducescatter_on_stream) \
	NVSHMEM_BITS(S, nvshmemx, xor_reduce_on_stream) NVSHMEM_BITS(S, nvshmemx, xor_reducescatter_on_stream) \
	NVSHMEM_SWAP(Z, nvshmem, atomic_fetch) NVSHMEM_SWAP(Z, nvshmem, atomic_set) NVSHMEM_SWAP(Z, nvshmem, atomic_swap) \
	NVSHMEM_ADD(Z, nvshmem, atomic_add) NVSHMEM_ADD(Z, nvshmem, atomic_compare_swap) \
	NVSHMEM_ADD(Z, nvshmem, atomic_fetch_add) NVSHMEM_ADD(Z, nvshmem, atomic_fetch_inc) \
	NVSHMEM_ADD(Z, nvshmem, atomic_inc) \
	NVSHMEM_AND(Z, nvshmem, atomic_and) NVSHMEM_AND(Z, nvshmem, atomic_fetch_and) \
	NVSHMEM_AND(Z, nvshmem, atomic_fetch_or) NVSHMEM_AND(Z, nvshmem, atomic_fetch_xor) \
	NVSHMEM_AND(Z, nvshmem, atomic_or) NVSHMEM_AND(Z, nvshmem, atomic_xor) \
	NVSHMEM_REAL(Z, nvshmemx, atomic_add) NVSHMEM_REAL(Z, nvshmemx, atomic_fetch_add) \
	NVSHMEM_WAIT(Z, nvshmemx, wait_until_all_on_stream) NVSHMEM_WAIT(Z, nvshmemx, wait_until_all_vector_on_stream) \
	NVSHMEM_WAIT(Z, nvshmemx, wait_until_on_stream)
