package handle

// The kinds of handles that the libraries above the driver give. They share one list, so that a handle of one library is never taken
// for one of another; the driver numbers its own from 1 to LastOfDriver.
const (
	LastOfDriver Kind = 31 + iota

	CublasHandle
	CublasXtHandle
	NvJitLinkHandle
	NVVMProgram
	NVRTCProgram
	NvFatbinHandle
	CurandGenerator
	NCCLCommunicator
	CudnnHandle
	CudnnDescriptor
	CudnnBackend

	CusparseHandle
	CusparseVector
	CusparseSparseVector
	CusparseDenseMatrix
	CusparseMatrix
	CusparsePlan
	CusparseLtHandle

	CusolverDense
	CusolverSyevj
	CusolverGesvdj
	CusolverParams
	CusolverRefinementParams
	CusolverRefinementInfos
	CusolverRefactorization
	CusolverMany
	CusolverSparse
	CusolverSparseInfo
	CusolverGrid
	CusolverManyMatrix

	lastKind = CusolverManyMatrix
)

// There is room for all of them.
const _ = MaxKind - uint(lastKind)
