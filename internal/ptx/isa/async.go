package isa

// The words of bulk copies.
var (
	tx          = Sets{{"completion", []string{".mbarrier::complete_tx::bytes"}}}
	bulkGroup   = Sets{{"completion", []string{".bulk_group"}}}
	dims        = Sets{{"dim", []string{".1d", ".2d", ".3d", ".4d", ".5d"}}}
	loadModes   = Sets{{"load_mode", []string{".tile", ".tile::gather4", ".im2col", ".im2col::w", ".im2col::w::128"}}}
	ctaGroups   = Sets{{"group", []string{".cta_group::1", ".cta_group::2"}}}
	multicast   = Sets{{"multicast", []string{".multicast::cluster"}}}
	sharedCta   = space(".shared", ".shared::cta")
	toShared    = Sets{{"dst", []string{".shared::cta"}}, {"src", []string{".global"}}}
	toCluster   = Sets{{"dst", []string{".shared::cluster"}}, {"src", []string{".global"}}}
	toGlobal    = Sets{{"dst", []string{".global"}}, {"src", []string{".shared::cta"}}}
	ctaToOthers = Sets{{"dst", []string{".shared::cluster"}}, {"src", []string{".shared::cta"}}}
)

// PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", tensor copies, "st.async", "st.bulk", "red.async".
func asyncForms() []Form {
	return []Form{
		{Op: CpAsync, Syntax: "cp.async.cop.dst.src{.hint}{.prefetch}  [d], [a], size{, srcsize}{, policy}", Sets: with(set("cop", ".ca"), set("dst", ".shared", ".shared::cta"), set("src", ".global"), hint, prefetch), Types: "size=#u32 srcsize=u32", PTX: v(7, 0), SM: 80},
		{Op: CpAsync, Syntax: "cp.async.cop.dst.src{.hint}{.prefetch}  [d], [a], size{, srcsize}{, policy}", Sets: with(set("cop", ".cg"), set("dst", ".shared", ".shared::cta"), set("src", ".global"), hint, prefetch), Types: "size=#u32 srcsize=u32", PTX: v(7, 0), SM: 80},
		{Op: CpAsync, Syntax: "cp.async.cop.dst.src{.hint}{.prefetch}  [d], [a], size{, ignore}{, policy}", Sets: with(set("cop", ".ca", ".cg"), set("dst", ".shared", ".shared::cta"), set("src", ".global"), hint, prefetch), Types: "size=#u32 ignore=$pred", PTX: v(8, 3), SM: 80},
		{Op: CpAsyncCommitGroup, Syntax: "cp.async.commit_group", PTX: v(7, 0), SM: 80},
		{Op: CpAsyncWaitGroup, Syntax: "cp.async.wait_group  n", Types: "n=#u32", PTX: v(7, 0), SM: 80},
		{Op: CpAsyncWaitAll, Syntax: "cp.async.wait_all", PTX: v(7, 0), SM: 80},
		{Op: CpAsyncMbarrierArrive, Syntax: "cp.async.mbarrier.arrive{.noinc}{.space}.b64  [a]", Sets: sharedCta, PTX: v(7, 0), SM: 80},

		{Op: CpAsyncBulk, Syntax: "cp.async.bulk.dst.src.completion{.hint}  [d], [a], size, [mbar]{, policy}", Sets: with(toShared, tx, hint), Types: "size=u32", PTX: v(8, 6), SM: 90},
		{Op: CpAsyncBulk, Syntax: "cp.async.bulk.dst.src.completion{.hint}.ignore_oob  [d], [a], size, left, right, [mbar]{, policy}", Sets: with(toShared, tx, hint), Types: "size=u32 left=u32 right=u32", PTX: v(9, 2), SM: 90},
		{Op: CpAsyncBulk, Syntax: "cp.async.bulk.dst.src.completion{.multicast}{.hint}  [d], [a], size, [mbar]{, ctamask}{, policy}", Sets: with(toCluster, tx, multicast, hint), Types: "size=u32 ctamask=b16", PTX: v(8, 0), SM: 90},
		{Op: CpAsyncBulk, Syntax: "cp.async.bulk.dst.src.completion  [d], [a], size, [mbar]", Sets: with(ctaToOthers, tx), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpAsyncBulk, Syntax: "cp.async.bulk.dst.src.completion{.hint}{.cp_mask}  [d], [a], size{, policy}{, bytemask}", Sets: with(toGlobal, bulkGroup, hint), Types: "size=u32 bytemask=b16", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion.op.type  [d], [a], size, [mbar]", Sets: with(ctaToOthers, tx, op(".and", ".or", ".xor"), typ([]string{".b32"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion.op.type  [d], [a], size, [mbar]", Sets: with(ctaToOthers, tx, op(".add"), typ([]string{".u32", ".s32", ".u64"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion.op.type  [d], [a], size, [mbar]", Sets: with(ctaToOthers, tx, op(".inc", ".dec"), typ([]string{".u32"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion.op.type  [d], [a], size, [mbar]", Sets: with(ctaToOthers, tx, op(".min", ".max"), typ([]string{".u32", ".s32"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion{.hint}.op.type  [d], [a], size{, policy}", Sets: with(toGlobal, bulkGroup, hint, op(".and", ".or", ".xor"), typ([]string{".b32", ".b64"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion{.hint}.op.type  [d], [a], size{, policy}", Sets: with(toGlobal, bulkGroup, hint, op(".add"), typ([]string{".u32", ".s32", ".u64", ".f32", ".f64"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion{.hint}.op.type  [d], [a], size{, policy}", Sets: with(toGlobal, bulkGroup, hint, op(".inc", ".dec"), typ([]string{".u32"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion{.hint}.op.type  [d], [a], size{, policy}", Sets: with(toGlobal, bulkGroup, hint, op(".min", ".max"), typ([]string{".u32", ".s32", ".u64", ".s64", ".f16", ".bf16"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulk, Syntax: "cp.reduce.async.bulk.dst.src.completion{.hint}.op.noftz.type  [d], [a], size{, policy}", Sets: with(toGlobal, bulkGroup, hint, op(".add"), typ([]string{".f16", ".bf16"})), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpAsyncBulkPrefetch, Syntax: "cp.async.bulk.prefetch.L2.src{.hint}  [a], size{, policy}", Sets: with(set("src", ".global"), hint), Types: "size=u32", PTX: v(8, 0), SM: 90},
		{Op: CpAsyncBulkCommitGroup, Syntax: "cp.async.bulk.commit_group", PTX: v(8, 0), SM: 90},
		{Op: CpAsyncBulkWaitGroup, Syntax: "cp.async.bulk.wait_group{.read}  n", Types: "n=#u32", PTX: v(8, 0), SM: 90},

		{Op: CpAsyncBulkTensor, Syntax: "cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion{.group}{.hint}  [d], [map, coords], [mbar]{, im2col}{, policy}", Sets: with(dims, toShared, loadModes, tx, ctaGroups, hint), Types: "im2col=$u16*", PTX: v(8, 6), SM: 90},
		{Op: CpAsyncBulkTensor, Syntax: "cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion{.multicast}{.group}{.hint}  [d], [map, coords], [mbar]{, im2col}{, ctamask}{, policy}", Sets: with(dims, toCluster, loadModes, tx, multicast, ctaGroups, hint), Types: "im2col=$u16* ctamask=b16", PTX: v(8, 0), SM: 90},
		{Op: CpAsyncBulkTensor, Syntax: "cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion{.hint}  [map, coords], [a]{, policy}", Sets: with(dims, toGlobal, set("load_mode", ".tile", ".tile::scatter4", ".im2col_no_offs"), bulkGroup, hint), PTX: v(8, 0), SM: 90},
		{Op: CpReduceAsyncBulkTensor, Syntax: "cp.reduce.async.bulk.tensor.dim.dst.src.op{.load_mode}.completion{.hint}  [map, coords], [a]{, policy}", Sets: with(dims, toGlobal, op(".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor"), set("load_mode", ".tile", ".im2col_no_offs"), bulkGroup, hint), PTX: v(8, 0), SM: 90},
		{Op: CpAsyncBulkPrefetchTensor, Syntax: "cp.async.bulk.prefetch.tensor.dim.L2.src{.load_mode}{.hint}  [map, coords]{, im2col}{, policy}", Sets: with(dims, set("src", ".global"), loadModes, hint), Types: "im2col=$u16*", PTX: v(8, 0), SM: 90},
		{Op: MultimemCpAsyncBulk, Syntax: "multimem.cp.async.bulk.dst.src.completion{.cp_mask}  [d], [a], size{, bytemask}", Sets: with(toGlobal, bulkGroup), Types: "size=u32 bytemask=b16", PTX: v(9, 1), SM: 90},
		{Op: MultimemCpReduceAsyncBulk, Syntax: "multimem.cp.reduce.async.bulk.dst.src.completion.op.type  [d], [a], size", Sets: with(toGlobal, bulkGroup, op(".and", ".or", ".xor"), typ([]string{".b32", ".b64"})), Types: "size=u32", PTX: v(9, 1), SM: 90},
		{Op: MultimemCpReduceAsyncBulk, Syntax: "multimem.cp.reduce.async.bulk.dst.src.completion.op.type  [d], [a], size", Sets: with(toGlobal, bulkGroup, op(".add"), typ([]string{".u32", ".s32", ".u64", ".f32", ".f64"})), Types: "size=u32", PTX: v(9, 1), SM: 90},
		{Op: MultimemCpReduceAsyncBulk, Syntax: "multimem.cp.reduce.async.bulk.dst.src.completion.op.type  [d], [a], size", Sets: with(toGlobal, bulkGroup, op(".inc", ".dec"), typ([]string{".u32"})), Types: "size=u32", PTX: v(9, 1), SM: 90},
		{Op: MultimemCpReduceAsyncBulk, Syntax: "multimem.cp.reduce.async.bulk.dst.src.completion.op.type  [d], [a], size", Sets: with(toGlobal, bulkGroup, op(".min", ".max"), typ([]string{".u32", ".s32", ".u64", ".s64", ".f16", ".bf16"})), Types: "size=u32", PTX: v(9, 1), SM: 90},
		{Op: MultimemCpReduceAsyncBulk, Syntax: "multimem.cp.reduce.async.bulk.dst.src.completion.op.noftz.type  [d], [a], size", Sets: with(toGlobal, bulkGroup, op(".add"), typ([]string{".f16", ".bf16"})), Types: "size=u32", PTX: v(9, 1), SM: 90},

		{Op: StAsync, Syntax: "st.async{.sem}{.scope}{.space}{.completion}{.vec}.type  [a], b, [mbar]", Sets: with(sem(".weak"), scope(".cluster"), space(".shared::cluster"), tx, vec24, typ([]string{".b32", ".b64", ".u32", ".u64", ".s32", ".s64", ".f32", ".f64"})), Types: "b=typev", PTX: v(8, 1), SM: 90},
		{Op: StAsync, Syntax: "st.async{.sem}{.scope}{.space}{.completion}.type  [a], b, [mbar]", Sets: with(sem(".weak"), scope(".cluster"), space(".shared::cluster"), tx, typ([]string{".b128"})), PTX: v(9, 2), SM: 90},
		{Op: StAsync, Syntax: "st.async.sem.scope{.space}.type  [a], b", Sets: with(sem(".release"), scope(".gpu", ".sys"), space(".global"), typ([]string{".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f32", ".f64"})), Types: "b=type", PTX: v(8, 7), SM: 100},
		{Op: StAsync, Syntax: "st.async.mmio.sem.scope{.space}.type  [a], b", Sets: with(sem(".release"), scope(".sys"), space(".global"), typ([]string{".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f32", ".f64"})), Types: "b=type", PTX: v(8, 7), SM: 100},
		{Op: StBulk, Syntax: "st.bulk{.weak}{.space}  [a], size, init", Sets: space(".shared::cta"), Types: "size=b64 init=#u32:0..0", PTX: v(8, 6), SM: 100},
		{Op: RedAsync, Syntax: "red.async.sem.scope{.space}.completion.op.type  [a], b, [mbar]", Sets: with(sem(".relaxed"), scope(".cluster"), space(".shared::cluster"), tx, op(".inc", ".dec"), typ([]string{".u32"})), PTX: v(8, 1), SM: 90},
		{Op: RedAsync, Syntax: "red.async.sem.scope{.space}.completion.op.type  [a], b, [mbar]", Sets: with(sem(".relaxed"), scope(".cluster"), space(".shared::cluster"), tx, op(".min", ".max"), typ(int32s)), PTX: v(8, 1), SM: 90},
		{Op: RedAsync, Syntax: "red.async.sem.scope{.space}.completion.op.type  [a], b, [mbar]", Sets: with(sem(".relaxed"), scope(".cluster"), space(".shared::cluster"), tx, op(".and", ".or", ".xor"), typ([]string{".b32"})), PTX: v(8, 1), SM: 90},
		{Op: RedAsync, Syntax: "red.async.sem.scope{.space}.completion.op.type  [a], b, [mbar]", Sets: with(sem(".relaxed"), scope(".cluster"), space(".shared::cluster"), tx, op(".add"), typ([]string{".u32", ".s32", ".u64"})), PTX: v(8, 1), SM: 90},
		{Op: RedAsync, Syntax: "red.async.sem.scope{.space}.op.type  [a], b", Sets: with(sem(".release"), scope(".gpu"), space(".global"), op(".add"), typ(int3264)), PTX: v(8, 7), SM: 100},
		{Op: RedAsync, Syntax: "red.async.mmio.sem.scope{.space}.op.type  [a], b", Sets: with(sem(".release"), scope(".sys"), space(".global"), op(".add"), typ(int3264)), PTX: v(8, 7), SM: 100},

		{Op: TensormapReplace, Syntax: "tensormap.replace.mode.field{.space}.b1024.type  [a], b", Sets: with(mode(".tile"), set("field", ".global_address"), space(".global", ".shared::cta"), typ([]string{".b64"})), PTX: v(8, 3), SM: 90, Arch: "90a 100f 110f 120f"},
		{Op: TensormapReplace, Syntax: "tensormap.replace.mode.field{.space}.b1024.type  [a], b", Sets: with(mode(".tile"), set("field", ".rank"), space(".global", ".shared::cta"), typ([]string{".b32"})), PTX: v(8, 3), SM: 90, Arch: "90a 100f 110f 120f"},
		{Op: TensormapReplace, Syntax: "tensormap.replace.mode.field{.space}.b1024.type  [a], ord, b", Sets: with(mode(".tile"), set("field", ".box_dim", ".global_dim", ".element_stride"), space(".global", ".shared::cta"), typ([]string{".b32"})), Types: "ord=#u32", PTX: v(8, 3), SM: 90, Arch: "90a 100f 110f 120f"},
		{Op: TensormapReplace, Syntax: "tensormap.replace.mode.field{.space}.b1024.type  [a], ord, b", Sets: with(mode(".tile"), set("field", ".global_stride"), space(".global", ".shared::cta"), typ([]string{".b64"})), Types: "ord=#u32", PTX: v(8, 3), SM: 90, Arch: "90a 100f 110f 120f"},
		{Op: TensormapReplace, Syntax: "tensormap.replace.mode.field{.space}.b1024.type  [a], b", Sets: with(mode(".tile"), set("field", ".elemtype", ".interleave_layout", ".swizzle_mode", ".fill_mode"), space(".global", ".shared::cta"), typ([]string{".b32"})), Types: "b=#u32", PTX: v(8, 3), SM: 90, Arch: "90a 100f 110f 120f"},
		{Op: TensormapReplace, Syntax: "tensormap.replace.mode.field{.space}.b1024.type  [a], b", Sets: with(mode(".tile"), set("field", ".swizzle_atomicity"), space(".global", ".shared::cta"), typ([]string{".b32"})), Types: "b=#u32", PTX: v(8, 6), SM: 100, Arch: "100f 110f 120f"},
		{Op: TensormapCpFenceproxy, Syntax: "tensormap.cp_fenceproxy.dst.src.proxykind.sem.scope.sync.aligned  [d], [a], size", Sets: with(toGlobal, set("proxykind", ".tensormap::generic"), sem(".release"), scopes), Types: "size=#u32:128..128", PTX: v(8, 3), SM: 90},
	}
}
