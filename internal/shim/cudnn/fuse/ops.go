package fuse

// Op is an operation on elements.
type Op uint8

// The operations. Those with bounds, slopes and the like take them as further arguments.
const (
	convert Op = iota
	Add
	Sub
	Mul
	Div
	Min // a NaN loses
	Max
	MinNaN // a NaN wins
	MaxNaN
	Mod
	FloorMod
	Pow
	Atan2
	Abs
	Neg
	Ceil
	Floor
	Exp
	Log
	Sqrt
	Rsqrt
	Reciprocal
	Sin
	Cos
	Tan
	Erf
	Relu // x, lower, upper, slope
	Tanh
	Sigmoid
	Elu // x, alpha
	Gelu
	Softplus // x, beta
	Swish    // x, beta
	GeluTanh
	ReluBwd // dy, x, lower, upper, slope
	TanhBwd
	SigmoidBwd
	EluBwd
	GeluBwd
	SoftplusBwd
	SwishBwd
	GeluTanhBwd
	TanhBwdY // dy, y
	SigmoidBwdY
	EluBwdY
	SoftplusBwdY
	Equal
	NotEqual
	Greater
	GreaterEqual
	Less
	LessEqual
	And
	Or
	Not
	Select  // which, if it is true, else
	Uniform // seed, offset, index
	numOps
)

// opRow says what an operation takes, and what it is in PTX: an instruction for floats and one for whole numbers. Floats that have none
// have a function of c/math.c; whole numbers that have none are computed as floats.
type opRow struct {
	name     string
	args     int
	float    string // % is the type
	whole    string
	compares bool
	logical  bool
}

var ops = [numOps]opRow{
	convert:    {name: "convert", args: 1},
	Add:        {name: "add", args: 2, float: "add.rn.%", whole: "add.%"},
	Sub:        {name: "sub", args: 2, float: "sub.rn.%", whole: "sub.%"},
	Mul:        {name: "mul", args: 2, float: "mul.rn.%", whole: "mul.lo.%"},
	Div:        {name: "div", args: 2, float: "div.rn.%", whole: "div.%"},
	Min:        {name: "min", args: 2, float: "min.%", whole: "min.%"},
	Max:        {name: "max", args: 2, float: "max.%", whole: "max.%"},
	MinNaN:     {name: "min_nan", args: 2, whole: "min.%"},
	MaxNaN:     {name: "max_nan", args: 2, whole: "max.%"},
	Mod:        {name: "mod", args: 2, whole: "rem.%"},
	FloorMod:   {name: "floor_mod", args: 2},
	Pow:        {name: "pow", args: 2},
	Atan2:      {name: "atan2", args: 2},
	Abs:        {name: "abs", args: 1, float: "abs.%", whole: "abs.%"},
	Neg:        {name: "neg", args: 1, float: "neg.%", whole: "neg.%"},
	Ceil:       {name: "ceil", args: 1, float: "cvt.rpi.%.%", whole: "mov.%"},
	Floor:      {name: "floor", args: 1, float: "cvt.rmi.%.%", whole: "mov.%"},
	Exp:        {name: "exp", args: 1},
	Log:        {name: "log", args: 1},
	Sqrt:       {name: "sqrt", args: 1, float: "sqrt.rn.%"},
	Rsqrt:      {name: "rsqrt", args: 1},
	Reciprocal: {name: "reciprocal", args: 1, float: "rcp.rn.%"},
	Sin:        {name: "sin", args: 1},
	Cos:        {name: "cos", args: 1},
	Tan:        {name: "tan", args: 1},
	Erf:        {name: "erf", args: 1},

	Relu:         {name: "relu", args: 4},
	Tanh:         {name: "tanh", args: 1},
	Sigmoid:      {name: "sigmoid", args: 1},
	Elu:          {name: "elu", args: 2},
	Gelu:         {name: "gelu", args: 1},
	Softplus:     {name: "softplus", args: 2},
	Swish:        {name: "swish", args: 2},
	GeluTanh:     {name: "gelu_tanh", args: 1},
	ReluBwd:      {name: "relu_bwd", args: 5},
	TanhBwd:      {name: "tanh_bwd", args: 2},
	SigmoidBwd:   {name: "sigmoid_bwd", args: 2},
	EluBwd:       {name: "elu_bwd", args: 3},
	GeluBwd:      {name: "gelu_bwd", args: 2},
	SoftplusBwd:  {name: "softplus_bwd", args: 3},
	SwishBwd:     {name: "swish_bwd", args: 3},
	GeluTanhBwd:  {name: "gelu_tanh_bwd", args: 2},
	TanhBwdY:     {name: "tanh_bwd_y", args: 2},
	SigmoidBwdY:  {name: "sigmoid_bwd_y", args: 2},
	EluBwdY:      {name: "elu_bwd_y", args: 3},
	SoftplusBwdY: {name: "softplus_bwd_y", args: 3},

	Equal:        {name: "eq", args: 2, compares: true, float: "setp.eq.%", whole: "setp.eq.%"},
	NotEqual:     {name: "ne", args: 2, compares: true, float: "setp.neu.%", whole: "setp.ne.%"},
	Greater:      {name: "gt", args: 2, compares: true, float: "setp.gt.%", whole: "setp.gt.%"},
	GreaterEqual: {name: "ge", args: 2, compares: true, float: "setp.ge.%", whole: "setp.ge.%"},
	Less:         {name: "lt", args: 2, compares: true, float: "setp.lt.%", whole: "setp.lt.%"},
	LessEqual:    {name: "le", args: 2, compares: true, float: "setp.le.%", whole: "setp.le.%"},
	And:          {name: "and", args: 2, logical: true, whole: "and.%"},
	Or:           {name: "or", args: 2, logical: true, whole: "or.%"},
	Not:          {name: "not", args: 1, logical: true, whole: "not.%"},
	Select:       {name: "select", args: 3},
	Uniform:      {name: "uniform", args: 3},
}

// asFloat reports an operation that a kind has no instruction for.
func (o Op) asFloat(k Kind) bool {
	return !kinds[k].floating && ops[o].whole == "" && o != convert && o != Select && o != Uniform
}

func (o Op) String() string { return ops[o].name }
