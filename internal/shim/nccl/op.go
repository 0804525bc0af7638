package nccl

import (
	"fmt"
	"math"
	"slices"

	"kudzu/internal/driver"
	"kudzu/internal/engine"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/ncclapi"
)

// kind is what an operation does.
type kind uint64

const (
	allReduce kind = iota + 1
	reduceScatter
	reduce
	broadcast
	allGather
	allToAll
	gather
	scatter
	sendTo
	recvFrom
	gatherBytes // of a split: the ranks' plans
	putSignal
	waitSignal
)

var kindNames = [...]string{
	allReduce: "ncclAllReduce", reduceScatter: "ncclReduceScatter", reduce: "ncclReduce", broadcast: "ncclBroadcast", allGather: "ncclAllGather",
	allToAll: "ncclAlltoAll", gather: "ncclGather", scatter: "ncclScatter", sendTo: "ncclSend", recvFrom: "ncclRecv", gatherBytes: "ncclCommSplit",
	putSignal: "ncclPutSignal", waitSignal: "ncclWaitSignal",
}

// typeSizes are bytes, by ncclDataType_t.
var typeSizes = [ncclapi.NcclNumTypes]uint64{
	ncclapi.NcclInt8: 1, ncclapi.NcclUint8: 1, ncclapi.NcclInt32: 4, ncclapi.NcclUint32: 4, ncclapi.NcclInt64: 8, ncclapi.NcclUint64: 8,
	ncclapi.NcclFloat16: 2, ncclapi.NcclFloat32: 4, ncclapi.NcclFloat64: 8, ncclapi.NcclBfloat16: 2, ncclapi.NcclFloat8e4m3: 1, ncclapi.NcclFloat8e5m2: 1,
}

// scaled is the number of PreMulSum among the reductions, in kz_collect.
const scaled = int(ncclapi.NcclNumOps)

// op is one call.
type op struct {
	c     *comm
	kind  kind
	send  uint64 // addresses
	recv  uint64
	count uint64 // elements, as the call has it
	typ   ncclapi.NcclDataType_t
	red   int     // reduction, in kz_collect's numbers
	by    *scalar // the factor of PreMulSum
	root  int     // or the peer
	to    *target // of a put
	waits []ncclapi.NcclWaitSignalDesc_t
	kept  [2][]byte // the buffers of one that works on copies

	gen    uint64        // of tickets, when the call began; 0: it gets none
	handle uint64        // the communicator's, for that
	begun  *engine.Begun // nil: nobody has begun it
}

func (o *op) size() uint64  { return typeSizes[o.typ] }
func (o *op) bytes() uint64 { return o.count * o.size() }

// call is what ranks must agree on, in one number.
func (o *op) call() uint64 {
	if o.kind == sendTo || o.kind == recvFrom {
		return uint64(sendTo)<<60 | o.bytes()&(1<<40-1)
	}
	return uint64(o.kind)<<60 | uint64(o.typ)<<56 | uint64(o.red)<<52 | uint64(o.root&0xfff)<<40 | o.count&(1<<40-1)
}

func describe(call uint64) string {
	k, n := kind(call>>60), call&(1<<40-1)
	switch {
	case k == 0 || int(k) >= len(kindNames):
		return "something else"
	case k == sendTo:
		return fmt.Sprintf("ncclSend or ncclRecv of %d bytes", n)
	}
	return fmt.Sprintf("%s of %d elements of type %d, reduction %d, root %d", kindNames[k], n, call>>56&15, call>>52&15, call>>40&0xfff)
}

// needs are the bytes that an operation reads and writes on its rank.
func (o *op) needs() (send, recv uint64) {
	b, n, root := o.bytes(), uint64(o.c.n), o.root == o.c.rank
	at := func(yes bool, n uint64) uint64 {
		if yes {
			return n
		}
		return 0
	}
	switch o.kind {
	case reduceScatter:
		return n * b, b
	case reduce:
		return b, at(root, b)
	case broadcast:
		return at(root, b), b
	case allGather:
		return b, n * b
	case allToAll:
		return n * b, n * b
	case gather:
		return b, at(root, n*b)
	case scatter:
		return at(root, n*b), b
	case sendTo, putSignal:
		return b, 0
	case recvFrom, waitSignal:
		return 0, b
	}
	return b, b
}

// meeting is the operation in the engine's words.
func (o *op) meeting() *engine.Meeting {
	send, recv := o.needs()
	return &engine.Meeting{Call: o.call(), Scale: o.by.value(), Send: o.send, Recv: o.recv, Bytes: o.bytes(), SendBytes: send, RecvBytes: recv,
		Kind: int(o.kind), Type: int(o.typ), Op: o.red, Root: o.root, Size: o.size(), Other: o.kind == allToAll && o.send == o.recv}
}

// check looks at the arguments of a call.
func (o *op) check(d *driver.Thread) error {
	if o.typ < 0 || int(o.typ) >= len(typeSizes) {
		return badArgument("%s: data type %d", kindNames[o.kind], o.typ)
	}
	if o.root < 0 || o.root >= o.c.n {
		return badArgument("%s: root or peer %d of %d ranks", kindNames[o.kind], o.root, o.c.n)
	}
	if o.count > math.MaxInt64/8/uint64(o.c.n) || o.bytes() >= 1<<40 {
		return badArgument("%s: %d elements", kindNames[o.kind], o.count)
	}
	send, recv := o.needs()
	for _, x := range [...]struct {
		at, n uint64
		what  string
	}{{o.send, send, "send"}, {o.recv, recv, "receive"}} {
		if x.n != 0 && !d.Holds(driver.DevPtr(x.at), x.n) {
			return badArgument("%s: the %s buffer at %#x has no %d bytes of device memory", kindNames[o.kind], x.what, x.at, x.n)
		}
	}
	return nil
}

// views are the buffers, of as many bytes as the operation needs.
func (o *op) views() (send, recv []byte) {
	s, r := o.needs()
	return hostmem.Bytes(hostmem.Ptr(o.send), s), hostmem.Bytes(hostmem.Ptr(o.recv), r)
}

// scalar is the factor of a PreMulSum.
type scalar struct {
	typ  ncclapi.NcclDataType_t
	bits uint64 // as kz_collect wants them
	raw  []byte // as the program has them
	at   uint64 // device memory to read it from, each time; 0: bits
}

// value is the factor's bits, in the type that is summed in.
func (s *scalar) value() uint64 {
	switch {
	case s == nil:
		return 0
	case s.at == 0:
		return s.bits
	}
	return readScalar(hostmem.Ptr(s.at), s.typ)
}

// RedOpCreatePreMulSum makes a reduction that multiplies each rank's elements by a factor of that rank.
func (t *Thread) RedOpCreatePreMulSum(at hostmem.Ptr, typ ncclapi.NcclDataType_t, where ncclapi.NcclScalarResidence_t, h ncclapi.NcclComm_t) (ncclapi.NcclRedOp_t, error) {
	c, err := find(h)
	if err != nil {
		return 0, err
	}
	if typ < 0 || int(typ) >= len(typeSizes) || at == hostmem.Nil {
		return 0, badArgument("ncclRedOpCreatePreMulSum: data type %d, scalar at %#x", typ, at)
	}
	s := &scalar{typ: typ}
	switch where {
	case ncclapi.NcclScalarHostImmediate:
		s.bits, s.raw = readScalar(at, typ), slices.Clone(hostmem.Bytes(at, typeSizes[typ]))
	case ncclapi.NcclScalarDevice:
		if !t.driver().Holds(driver.DevPtr(at), typeSizes[typ]) {
			return 0, badArgument("ncclRedOpCreatePreMulSum: the scalar at %#x is not in device memory", at)
		}
		s.at = uint64(at)
	default:
		return 0, badArgument("ncclRedOpCreatePreMulSum: residence %d", where)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nextOp
	c.nextOp++
	c.scalars[n] = s
	return ncclapi.NcclRedOp_t(n), nil
}

// RedOpDestroy forgets one. Calls that were made with it keep it.
func (t *Thread) RedOpDestroy(n ncclapi.NcclRedOp_t, h ncclapi.NcclComm_t) error {
	c, err := lookup(h)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scalars[int32(n)] == nil {
		return badArgument("ncclRedOpDestroy: operation %d", n)
	}
	delete(c.scalars, int32(n))
	return nil
}

// reduction sets the operation's reduction.
func (o *op) reduction(n ncclapi.NcclRedOp_t) error {
	if n >= 0 && n < ncclapi.NcclNumOps {
		o.red = int(n)
		return nil
	}
	o.c.mu.Lock()
	s := o.c.scalars[int32(n)]
	o.c.mu.Unlock()
	if s == nil {
		return badArgument("%s: reduction %d", kindNames[o.kind], n)
	}
	if s.typ != o.typ {
		return badArgument("%s: the factor of reduction %d is of type %d, the elements of type %d", kindNames[o.kind], n, s.typ, o.typ)
	}
	o.red, o.by = scaled, s
	return nil
}
