package isa

// tcgenTargets are the families with a fifth-generation tensor core.
const tcgenTargets = "100f 110f"

var (
	tmemShapes = shape(".16x64b", ".16x128b", ".16x256b", ".32x32b")
	tmemNums   = set("num", ".x1", ".x2", ".x4", ".x8", ".x16", ".x32", ".x64", ".x128")
	redNums    = set("num", ".x2", ".x4", ".x8", ".x16", ".x32", ".x64", ".x128")
	floatKinds = set("kind", ".kind::f16", ".kind::tf32", ".kind::f8f6f4")
	halfKinds  = set("kind", ".kind::f16", ".kind::tf32")
	intKinds   = set("kind", ".kind::i8")
	collectorA = set("collector", ".collector::a::fill", ".collector::a::use", ".collector::a::lastuse", ".collector::a::discard")
	collectorB = set("collector",
		".collector::b0::fill", ".collector::b0::use", ".collector::b0::lastuse", ".collector::b0::discard",
		".collector::b1::fill", ".collector::b1::use", ".collector::b1::lastuse", ".collector::b1::discard",
		".collector::b2::fill", ".collector::b2::use", ".collector::b2::lastuse", ".collector::b2::discard",
		".collector::b3::fill", ".collector::b3::use", ".collector::b3::lastuse", ".collector::b3::discard")
)

// PTX ISA, "TensorCore 5th Generation Family Instructions".
func tcgen05Forms() []Form {
	return []Form{
		{Op: Tcgen05Alloc, Syntax: "tcgen05.alloc.group.sync.aligned{.space}.b32  [d], n", Sets: with(ctaGroups, space(".shared::cta")), Types: "n=u32", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Dealloc, Syntax: "tcgen05.dealloc.group.sync.aligned.b32  a, n", Sets: ctaGroups, Types: "a=u32 n=u32", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05RelinquishAllocPermit, Syntax: "tcgen05.relinquish_alloc_permit.group.sync.aligned", Sets: ctaGroups, PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Ld, Syntax: "tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32  r, [a]", Sets: with(tmemShapes, tmemNums), Types: "r=$b32*", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Ld, Syntax: "tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32  r, [a], off", Sets: with(shape(".16x32bx2"), tmemNums), Types: "r=$b32* off=#u32", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05LdRed, Syntax: "tcgen05.ld.red.sync.aligned.shape.num.op{.abs}{.NaN}.f32  r, d, [a]", Sets: with(shape(".32x32b"), redNums, op(".min", ".max")), Types: "r=$f32* d=$b32~", PTX: v(8, 8), SM: 101, Arch: "101a 103f 110f"},
		{Op: Tcgen05LdRed, Syntax: "tcgen05.ld.red.sync.aligned.shape.num.op{.abs}{.NaN}.f32  r, d, [a], off", Sets: with(shape(".16x32bx2"), redNums, op(".min", ".max")), Types: "r=$f32* d=$b32~ off=#u32", PTX: v(8, 8), SM: 101, Arch: "101a 103f 110f"},
		{Op: Tcgen05LdRed, Syntax: "tcgen05.ld.red.sync.aligned.shape.num.op.type  r, d, [a]", Sets: with(shape(".32x32b"), redNums, op(".min", ".max"), typ(int32s)), Types: "r=$type* d=$b32~", PTX: v(8, 8), SM: 101, Arch: "101a 103f 110f"},
		{Op: Tcgen05LdRed, Syntax: "tcgen05.ld.red.sync.aligned.shape.num.op.type  r, d, [a], off", Sets: with(shape(".16x32bx2"), redNums, op(".min", ".max"), typ(int32s)), Types: "r=$type* d=$b32~ off=#u32", PTX: v(8, 8), SM: 101, Arch: "101a 103f 110f"},
		{Op: Tcgen05St, Syntax: "tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32  [a], r", Sets: with(tmemShapes, tmemNums), Types: "r=$b32*", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05St, Syntax: "tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32  [a], off, r", Sets: with(shape(".16x32bx2"), tmemNums), Types: "off=#u32 r=$b32*", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Wait, Syntax: "tcgen05.wait.sync.aligned", Sets: set("wait", ".wait::ld", ".wait::st"), PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Fence, Syntax: "tcgen05.fence", Sets: set("fence", ".fence::before_thread_sync", ".fence::after_thread_sync"), PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Commit, Syntax: "tcgen05.commit.group.completion{.space}{.multicast}.b64  [mbar]{, ctamask}", Sets: with(ctaGroups, set("completion", ".mbarrier::arrive::one"), space(".shared::cluster"), multicast), Types: "ctamask=b16", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Cp, Syntax: "tcgen05.cp.group.shape  [a], desc", Sets: with(ctaGroups, shape(".128x256b", ".4x256b", ".128x128b")), Types: "desc=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Cp, Syntax: "tcgen05.cp.group.shape.dst_fmt.src_fmt  [a], desc", Sets: with(ctaGroups, shape(".128x256b", ".4x256b", ".128x128b"), set("dst_fmt", ".b8x16"), set("src_fmt", ".b6x16_p32", ".b4x16_p64")), Types: "desc=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Cp, Syntax: "tcgen05.cp.group.shape.multicast  [a], desc", Sets: with(ctaGroups, shape(".64x128b"), set("multicast", ".warpx2::02_13", ".warpx2::01_23")), Types: "desc=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Cp, Syntax: "tcgen05.cp.group.shape.multicast.dst_fmt.src_fmt  [a], desc", Sets: with(ctaGroups, shape(".64x128b"), set("multicast", ".warpx2::02_13", ".warpx2::01_23"), set("dst_fmt", ".b8x16"), set("src_fmt", ".b6x16_p32", ".b4x16_p64")), Types: "desc=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Cp, Syntax: "tcgen05.cp.group.shape.multicast  [a], desc", Sets: with(ctaGroups, shape(".32x128b"), set("multicast", ".warpx4")), Types: "desc=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Cp, Syntax: "tcgen05.cp.group.shape.multicast.dst_fmt.src_fmt  [a], desc", Sets: with(ctaGroups, shape(".32x128b"), set("multicast", ".warpx4"), set("dst_fmt", ".b8x16"), set("src_fmt", ".b6x16_p32", ".b4x16_p64")), Types: "desc=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Shift, Syntax: "tcgen05.shift.group.down  [a]", Sets: ctaGroups, PTX: v(8, 6), SM: 100, Arch: "100a 101a 103a 107a 110a"},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind{.collector}  [d], a, b, idesc{, mask}, enable{, scaled}", Sets: with(ctaGroups, halfKinds, collectorA), Types: "a=b64 b=b64 idesc=b32 mask=$b32* enable=pred scaled=#u32", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind{.collector}  [d], a, b, idesc{, mask}, enable", Sets: with(ctaGroups, set("kind", ".kind::f8f6f4"), collectorA), Types: "a=b64 b=b64 idesc=b32 mask=$b32* enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind.block_scale{.scale_vec}{.collector}  [d], a, b, idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf8f6f4"), set("scale_vec", ".scale_vec::1X", ".block32"), collectorA), Types: "a=b64 b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind.block_scale{.scale_vec}{.collector}  [d], a, b, idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf4"), set("scale_vec", ".scale_vec::2X", ".block32"), collectorA), Types: "a=b64 b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind.block_scale.scale_vec{.collector}  [d], a, b, idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf4nvf4"), set("scale_vec", ".scale_vec::2X", ".scale_vec::4X", ".block16", ".block32"), collectorA), Types: "a=b64 b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind{.collector}  [d], a, b, idesc{, mask}, enable", Sets: with(ctaGroups, intKinds, collectorA), Types: "a=b64 b=b64 idesc=b32 mask=$b32* enable=pred", PTX: v(8, 6), SM: 100, Arch: "100a 101a 110a"},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind{.ashift}{.collector}  [d], [a], b, idesc{, mask}, enable{, scaled}", Sets: with(ctaGroups, halfKinds, collectorA), Types: "b=b64 idesc=b32 mask=$b32* enable=pred scaled=#u32", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind{.ashift}{.collector}  [d], [a], b, idesc{, mask}, enable", Sets: with(ctaGroups, set("kind", ".kind::f8f6f4"), collectorA), Types: "b=b64 idesc=b32 mask=$b32* enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind.block_scale{.scale_vec}{.collector}  [d], [a], b, idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf8f6f4"), set("scale_vec", ".scale_vec::1X", ".block32"), collectorA), Types: "b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind.block_scale{.scale_vec}{.collector}  [d], [a], b, idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf4"), set("scale_vec", ".scale_vec::2X", ".block32"), collectorA), Types: "b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind.block_scale.scale_vec{.collector}  [d], [a], b, idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf4nvf4"), set("scale_vec", ".scale_vec::2X", ".scale_vec::4X", ".block16", ".block32"), collectorA), Types: "b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05Mma, Syntax: "tcgen05.mma.group.kind{.ashift}{.collector}  [d], [a], b, idesc{, mask}, enable", Sets: with(ctaGroups, intKinds, collectorA), Types: "b=b64 idesc=b32 mask=$b32* enable=pred", PTX: v(8, 6), SM: 100, Arch: "100a 101a 110a"},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind{.collector}  [d], a, b, [meta], idesc{, mask}, enable{, scaled}", Sets: with(ctaGroups, halfKinds, collectorA), Types: "a=b64 b=b64 idesc=b32 mask=$b32* enable=pred scaled=#u32", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind{.collector}  [d], a, b, [meta], idesc{, mask}, enable", Sets: with(ctaGroups, set("kind", ".kind::f8f6f4"), collectorA), Types: "a=b64 b=b64 idesc=b32 mask=$b32* enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind.block_scale{.scale_vec}{.collector}  [d], a, b, [meta], idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf8f6f4"), set("scale_vec", ".scale_vec::1X", ".block32"), collectorA), Types: "a=b64 b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind.block_scale{.scale_vec}{.collector}  [d], a, b, [meta], idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf4"), set("scale_vec", ".scale_vec::2X", ".block32"), collectorA), Types: "a=b64 b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind.block_scale.scale_vec{.collector}  [d], a, b, [meta], idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf4nvf4"), set("scale_vec", ".scale_vec::2X", ".scale_vec::4X", ".block16", ".block32"), collectorA), Types: "a=b64 b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind{.collector}  [d], a, b, [meta], idesc{, mask}, enable", Sets: with(ctaGroups, intKinds, collectorA), Types: "a=b64 b=b64 idesc=b32 mask=$b32* enable=pred", PTX: v(8, 6), SM: 100, Arch: "100a 101a 110a"},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind{.ashift}{.collector}  [d], [a], b, [meta], idesc{, mask}, enable{, scaled}", Sets: with(ctaGroups, halfKinds, collectorA), Types: "b=b64 idesc=b32 mask=$b32* enable=pred scaled=#u32", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind{.ashift}{.collector}  [d], [a], b, [meta], idesc{, mask}, enable", Sets: with(ctaGroups, set("kind", ".kind::f8f6f4"), collectorA), Types: "b=b64 idesc=b32 mask=$b32* enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind.block_scale{.scale_vec}{.collector}  [d], [a], b, [meta], idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf8f6f4"), set("scale_vec", ".scale_vec::1X", ".block32"), collectorA), Types: "b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind.block_scale{.scale_vec}{.collector}  [d], [a], b, [meta], idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf4"), set("scale_vec", ".scale_vec::2X", ".block32"), collectorA), Types: "b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind.block_scale.scale_vec{.collector}  [d], [a], b, [meta], idesc, [sa], [sb], enable", Sets: with(ctaGroups, set("kind", ".kind::mxf4nvf4"), set("scale_vec", ".scale_vec::2X", ".scale_vec::4X", ".block16", ".block32"), collectorA), Types: "b=b64 idesc=b32 enable=pred", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaSp, Syntax: "tcgen05.mma.sp.group.kind{.ashift}{.collector}  [d], [a], b, [meta], idesc{, mask}, enable", Sets: with(ctaGroups, intKinds, collectorA), Types: "b=b64 idesc=b32 mask=$b32* enable=pred", PTX: v(8, 6), SM: 100, Arch: "100a 101a 110a"},
		{Op: Tcgen05MmaWs, Syntax: "tcgen05.mma.ws.cta_group::1.kind{.collector}  [d], a, b, idesc, enable{, zeros}", Sets: with(floatKinds, collectorB), Types: "a=b64 b=b64 idesc=b32 enable=pred zeros=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaWs, Syntax: "tcgen05.mma.ws.cta_group::1.kind{.collector}  [d], a, b, idesc, enable{, zeros}", Sets: with(intKinds, collectorB), Types: "a=b64 b=b64 idesc=b32 enable=pred zeros=b64", PTX: v(8, 6), SM: 100, Arch: "100a 101a 110a"},
		{Op: Tcgen05MmaWs, Syntax: "tcgen05.mma.ws.cta_group::1.kind{.collector}  [d], [a], b, idesc, enable{, zeros}", Sets: with(floatKinds, collectorB), Types: "b=b64 idesc=b32 enable=pred zeros=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaWs, Syntax: "tcgen05.mma.ws.cta_group::1.kind{.collector}  [d], [a], b, idesc, enable{, zeros}", Sets: with(intKinds, collectorB), Types: "b=b64 idesc=b32 enable=pred zeros=b64", PTX: v(8, 6), SM: 100, Arch: "100a 101a 110a"},
		{Op: Tcgen05MmaWsSp, Syntax: "tcgen05.mma.ws.sp.cta_group::1.kind{.collector}  [d], a, b, [meta], idesc, enable{, zeros}", Sets: with(floatKinds, collectorB), Types: "a=b64 b=b64 idesc=b32 enable=pred zeros=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaWsSp, Syntax: "tcgen05.mma.ws.sp.cta_group::1.kind{.collector}  [d], a, b, [meta], idesc, enable{, zeros}", Sets: with(intKinds, collectorB), Types: "a=b64 b=b64 idesc=b32 enable=pred zeros=b64", PTX: v(8, 6), SM: 100, Arch: "100a 101a 110a"},
		{Op: Tcgen05MmaWsSp, Syntax: "tcgen05.mma.ws.sp.cta_group::1.kind{.collector}  [d], [a], b, [meta], idesc, enable{, zeros}", Sets: with(floatKinds, collectorB), Types: "b=b64 idesc=b32 enable=pred zeros=b64", PTX: v(8, 6), SM: 100, Arch: tcgenTargets},
		{Op: Tcgen05MmaWsSp, Syntax: "tcgen05.mma.ws.sp.cta_group::1.kind{.collector}  [d], [a], b, [meta], idesc, enable{, zeros}", Sets: with(intKinds, collectorB), Types: "b=b64 idesc=b32 enable=pred zeros=b64", PTX: v(8, 6), SM: 100, Arch: "100a 101a 110a"},
	}
}
