package image

// A tensor copy is one call of the runtime for a whole warp:
//
//	uint64_t tensor(const struct kz_launch *l, struct kz_worker *w, uint32_t op, uint32_t mask, const void *args, void *results);
//
// The lanes of mask act. args holds 32 addresses of maps, 32 addresses in shared memory, then 32 words of each of TensorCoords coordinates and TensorShifts im2col offsets. The one result word is the bytes that were copied. op is one of
// Tensor… with the fields below. The answer is 0, or a StopXxx code in the low half and the lanes that stopped in the high half.
const (
	TensorLoad = iota
	TensorStore
	TensorReduce
)

// TensorCoords and TensorShifts are how many words of each there are.
const (
	TensorCoords = 5
	TensorShifts = 3
)

// TensorMapBytes is the size of a map (internal/tensormap).
const TensorMapBytes = 128

// Fields of op.
const (
	TensorRankShift = 4
	TensorModeShift = 8  // TensorModeXxx
	TensorRedShift  = 12 // TensorRedXxx
)

// How a copy goes through the tensor.
const (
	TensorModeTile = iota
	TensorModeRows // four rows of a 2D tensor
	TensorModeIm2col
	TensorModeNone // no map is for it
)

// Reductions.
const (
	TensorRedAdd = iota
	TensorRedMin
	TensorRedMax
	TensorRedInc
	TensorRedDec
	TensorRedAnd
	TensorRedOr
	TensorRedXor
)
