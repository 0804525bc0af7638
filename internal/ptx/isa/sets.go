package isa

// The sets that rows share. A set's name is the name of the slot it fills; see form.go for the list of slot names.
var (
	rnd4   = Sets{{"rnd", []string{".rn", ".rz", ".rm", ".rp"}}}
	rnd2   = Sets{{"rnd", []string{".rn", ".rz"}}}
	rndRN  = Sets{{"rnd", []string{".rn"}}}
	rndCvt = Sets{{"rnd", []string{".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi"}}}
	bool3  = Sets{{"bool", []string{".and", ".or", ".xor"}}}
	scopes = Sets{{"scope", []string{".cta", ".cluster", ".gpu", ".sys"}}}
	vec24  = Sets{{"vec", []string{".v2", ".v4"}}}
	vec248 = Sets{{"vec", []string{".v2", ".v4", ".v8"}}}

	semAtom = Sets{{"sem", []string{".relaxed", ".acquire", ".release", ".acq_rel"}}}
	semRed  = Sets{{"sem", []string{".relaxed", ".release"}}}

	copLd    = Sets{{"cop", []string{".ca", ".cg", ".cs", ".lu", ".cv"}}}
	copSt    = Sets{{"cop", []string{".wb", ".cg", ".cs", ".wt"}}}
	hint     = Sets{{"hint", []string{".L2::cache_hint"}}}
	prefetch = Sets{{"prefetch", []string{".L2::64B", ".L2::128B", ".L2::256B"}}}
	level1   = Sets{{"level1", []string{".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate"}}}
	level2   = Sets{{"level2", []string{".L2::evict_normal", ".L2::evict_first", ".L2::evict_last"}}}

	policyPrimary   = Sets{{"primary", []string{".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged"}}}
	policySecondary = Sets{{"secondary", []string{".L2::evict_first", ".L2::evict_unchanged"}}}
	proxyKind       = Sets{{"proxykind", []string{".alias", ".async"}}}
)

// Word lists that several sets share.
var (
	intW     = []string{".u16", ".u32", ".u64", ".s16", ".s32", ".s64"}
	intHalf  = []string{".u16", ".u32", ".s16", ".s32"}
	int16x2  = []string{".u16x2", ".s16x2"}
	int8x4   = []string{".u8x4", ".s8x4"}
	sintW    = []string{".s16", ".s32", ".s64"}
	int32s   = []string{".u32", ".s32"}
	int64s   = []string{".u64", ".s64"}
	int3264  = []string{".u32", ".u64", ".s32", ".s64"}
	bits3264 = []string{".b32", ".b64"}
	bitsW    = []string{".b16", ".b32", ".b64"}
	predBits = []string{".pred", ".b16", ".b32", ".b64"}
	intBits  = []string{".b16", ".b32", ".b64", ".u16", ".u32", ".u64", ".s16", ".s32", ".s64"}
	f3264    = []string{".f32", ".f64"}
	f16s     = []string{".f16", ".f16x2"}
	bf16s    = []string{".bf16", ".bf16x2"}

	int163264 = []string{".u16", ".s16", ".u32", ".s32"}

	cmpInt   = []string{".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs"}
	cmpFloat = []string{".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".equ", ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"}

	movTypes = []string{".pred", ".b16", ".b32", ".b64", ".u16", ".u32", ".u64", ".s16", ".s32", ".s64", ".f32", ".f64"}
	cvtTypes = []string{".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".bf16", ".f16", ".f32", ".f64"}
	memTypes = []string{".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64", ".s8", ".s16", ".s32", ".s64", ".f32", ".f64"}
	f8x2     = []string{".e4m3x2", ".e5m2x2"}
	f8x4     = []string{".e4m3x4", ".e5m2x4"}
	f6x2     = []string{".e2m3x2", ".e3m2x2"}
	f6x4     = []string{".e2m3x4", ".e3m2x4"}

	ldSpaces   = []string{".const", ".global", ".local", ".param", ".param::entry", ".param::func", ".shared", ".shared::cta", ".shared::cluster"}
	stSpaces   = []string{".global", ".local", ".param", ".param::func", ".shared", ".shared::cta", ".shared::cluster"}
	syncSpaces = []string{".global", ".shared", ".shared::cta", ".shared::cluster"}
	cvtaSpaces = []string{".const", ".global", ".local", ".shared", ".shared::cta", ".shared::cluster", ".param", ".param::entry"}
)

func typ(words []string) Sets               { return Sets{{"type", words}} }
func dtype(words ...string) Sets            { return Sets{{"dtype", words}} }
func atype(words ...string) Sets            { return Sets{{"atype", words}} }
func btype(words ...string) Sets            { return Sets{{"btype", words}} }
func ctype(words ...string) Sets            { return Sets{{"ctype", words}} }
func abtypes(words []string) Sets           { return Sets{{"atype", words}, {"btype", words}} }
func mode(words ...string) Sets             { return Sets{{"mode", words}} }
func op(words ...string) Sets               { return Sets{{"op", words}} }
func cmp(words []string) Sets               { return Sets{{"cmp", words}} }
func sem(words ...string) Sets              { return Sets{{"sem", words}} }
func scope(words ...string) Sets            { return Sets{{"scope", words}} }
func space(words ...string) Sets            { return Sets{{"space", words}} }
func shape(words ...string) Sets            { return Sets{{"shape", words}} }
func set(name string, words ...string) Sets { return Sets{{name, words}} }

// with joins sets; a name may come from one of them only (a test checks the rows for it).
func with(sets ...Sets) Sets {
	var all Sets
	for _, s := range sets {
		for _, one := range s {
			if _, twice := all.words(one.Name); twice {
				panic("BUG: set ." + one.Name + " given twice")
			}
			all = append(all, one)
		}
	}
	return all
}

func cat(lists ...[]string) []string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
