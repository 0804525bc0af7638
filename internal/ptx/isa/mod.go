package isa

// Mod is a dotted word: a modifier, a type, a state space. The zero Mod is no word.
type Mod uint16

// The dotted words, types first. The constant of .a::b_c is ModABC.
const (
	NoMod Mod = iota
	ModS8
	ModS16
	ModS32
	ModS64
	ModU8
	ModU16
	ModU32
	ModU64
	ModB8
	ModB16
	ModB32
	ModB64
	ModB128
	ModF16
	ModF16x2
	ModBf16
	ModBf16x2
	ModF32
	ModF32x2
	ModF64
	ModTf32
	ModE4m3
	ModE5m2
	ModE4m3x2
	ModE5m2x2
	ModE4m3x4
	ModE5m2x4
	ModE2m3
	ModE3m2
	ModE2m3x2
	ModE3m2x2
	ModE2m3x4
	ModE3m2x4
	ModE2m1
	ModE2m1x2
	ModE2m1x4
	ModUe8m0
	ModUe8m0x2
	ModUe4m3
	ModS4
	ModU4
	ModS2
	ModU2
	ModB1
	ModB4
	ModB6
	ModS16x2
	ModU16x2
	ModU8x4
	ModS8x4
	ModPred
	ModTexref
	ModSamplerref
	ModSurfref
	ModRn
	ModRz
	ModRm
	ModRp
	ModRni
	ModRzi
	ModRmi
	ModRpi
	ModAnd
	ModOr
	ModXor
	ModCta
	ModCluster
	ModGpu
	ModSys
	ModV2
	ModV4
	ModV8
	ModRelaxed
	ModAcquire
	ModRelease
	ModAcqRel
	ModCa
	ModCg
	ModCs
	ModLu
	ModCv
	ModWb
	ModWt
	ModL2CacheHint
	ModL264B
	ModL2128B
	ModL2256B
	ModL1EvictNormal
	ModL1EvictUnchanged
	ModL1EvictFirst
	ModL1EvictLast
	ModL1NoAllocate
	ModL2EvictNormal
	ModL2EvictFirst
	ModL2EvictLast
	ModL2EvictUnchanged
	ModAlias
	ModAsync
	ModEq
	ModNe
	ModLt
	ModLe
	ModGt
	ModGe
	ModLo
	ModLs
	ModHi
	ModHs
	ModEqu
	ModNeu
	ModLtu
	ModLeu
	ModGtu
	ModGeu
	ModNum
	ModNan
	ModConst
	ModGlobal
	ModLocal
	ModParam
	ModParamEntry
	ModParamFunc
	ModShared
	ModSharedCta
	ModSharedCluster
	ModExch
	ModCas
	ModAdd
	ModInc
	ModDec
	ModMin
	ModMax
	ModNoftz
	ModFtz
	ModUni
	ModIdx
	ModMask
	ModSync
	ModAligned
	ModSat
	ModRelu
	ModSatfinite
	ModRs
	ModRna
	ModFinite
	ModInfinite
	ModNumber
	ModNotanumber
	ModNormal
	ModSubnormal
	ModApprox
	ModFull
	ModNaN
	ModXorsign
	ModAbs
	ModOob
	ModClamp
	ModWrap
	ModWide
	ModShiftamt
	ModCc
	ModL
	ModR
	ModF4e
	ModB4e
	ModRc8
	ModEcl
	ModEcr
	ModRc16
	ModL1
	ModL2
	ModWeak
	ModAccF32
	ModAccF16
	ModVolatile
	ModMmio
	ModNc
	ModTensormap
	ModRange
	ModFractional
	ModCvt
	ModRed
	ModUp
	ModDown
	ModBfly
	ModPopc
	ModGl
	ModSc
	ModMbarrierInit
	ModTensormapGeneric
	ModLaunchDependents
	ModWait
	ModArrive
	ModProxy
	ModSyncRestrictSharedCluster
	ModSyncRestrictSharedCta
	ModAsyncGeneric
	ModAll
	ModAny
	ModBallot
	NumMods
)

var modNames = [NumMods]string{
	ModS8:                        ".s8",
	ModS16:                       ".s16",
	ModS32:                       ".s32",
	ModS64:                       ".s64",
	ModU8:                        ".u8",
	ModU16:                       ".u16",
	ModU32:                       ".u32",
	ModU64:                       ".u64",
	ModB8:                        ".b8",
	ModB16:                       ".b16",
	ModB32:                       ".b32",
	ModB64:                       ".b64",
	ModB128:                      ".b128",
	ModF16:                       ".f16",
	ModF16x2:                     ".f16x2",
	ModBf16:                      ".bf16",
	ModBf16x2:                    ".bf16x2",
	ModF32:                       ".f32",
	ModF32x2:                     ".f32x2",
	ModF64:                       ".f64",
	ModTf32:                      ".tf32",
	ModE4m3:                      ".e4m3",
	ModE5m2:                      ".e5m2",
	ModE4m3x2:                    ".e4m3x2",
	ModE5m2x2:                    ".e5m2x2",
	ModE4m3x4:                    ".e4m3x4",
	ModE5m2x4:                    ".e5m2x4",
	ModE2m3:                      ".e2m3",
	ModE3m2:                      ".e3m2",
	ModE2m3x2:                    ".e2m3x2",
	ModE3m2x2:                    ".e3m2x2",
	ModE2m3x4:                    ".e2m3x4",
	ModE3m2x4:                    ".e3m2x4",
	ModE2m1:                      ".e2m1",
	ModE2m1x2:                    ".e2m1x2",
	ModE2m1x4:                    ".e2m1x4",
	ModUe8m0:                     ".ue8m0",
	ModUe8m0x2:                   ".ue8m0x2",
	ModUe4m3:                     ".ue4m3",
	ModS4:                        ".s4",
	ModU4:                        ".u4",
	ModS2:                        ".s2",
	ModU2:                        ".u2",
	ModB1:                        ".b1",
	ModB4:                        ".b4",
	ModB6:                        ".b6",
	ModS16x2:                     ".s16x2",
	ModU16x2:                     ".u16x2",
	ModU8x4:                      ".u8x4",
	ModS8x4:                      ".s8x4",
	ModPred:                      ".pred",
	ModTexref:                    ".texref",
	ModSamplerref:                ".samplerref",
	ModSurfref:                   ".surfref",
	ModRn:                        ".rn",
	ModRz:                        ".rz",
	ModRm:                        ".rm",
	ModRp:                        ".rp",
	ModRni:                       ".rni",
	ModRzi:                       ".rzi",
	ModRmi:                       ".rmi",
	ModRpi:                       ".rpi",
	ModAnd:                       ".and",
	ModOr:                        ".or",
	ModXor:                       ".xor",
	ModCta:                       ".cta",
	ModCluster:                   ".cluster",
	ModGpu:                       ".gpu",
	ModSys:                       ".sys",
	ModV2:                        ".v2",
	ModV4:                        ".v4",
	ModV8:                        ".v8",
	ModRelaxed:                   ".relaxed",
	ModAcquire:                   ".acquire",
	ModRelease:                   ".release",
	ModAcqRel:                    ".acq_rel",
	ModCa:                        ".ca",
	ModCg:                        ".cg",
	ModCs:                        ".cs",
	ModLu:                        ".lu",
	ModCv:                        ".cv",
	ModWb:                        ".wb",
	ModWt:                        ".wt",
	ModL2CacheHint:               ".L2::cache_hint",
	ModL264B:                     ".L2::64B",
	ModL2128B:                    ".L2::128B",
	ModL2256B:                    ".L2::256B",
	ModL1EvictNormal:             ".L1::evict_normal",
	ModL1EvictUnchanged:          ".L1::evict_unchanged",
	ModL1EvictFirst:              ".L1::evict_first",
	ModL1EvictLast:               ".L1::evict_last",
	ModL1NoAllocate:              ".L1::no_allocate",
	ModL2EvictNormal:             ".L2::evict_normal",
	ModL2EvictFirst:              ".L2::evict_first",
	ModL2EvictLast:               ".L2::evict_last",
	ModL2EvictUnchanged:          ".L2::evict_unchanged",
	ModAlias:                     ".alias",
	ModAsync:                     ".async",
	ModEq:                        ".eq",
	ModNe:                        ".ne",
	ModLt:                        ".lt",
	ModLe:                        ".le",
	ModGt:                        ".gt",
	ModGe:                        ".ge",
	ModLo:                        ".lo",
	ModLs:                        ".ls",
	ModHi:                        ".hi",
	ModHs:                        ".hs",
	ModEqu:                       ".equ",
	ModNeu:                       ".neu",
	ModLtu:                       ".ltu",
	ModLeu:                       ".leu",
	ModGtu:                       ".gtu",
	ModGeu:                       ".geu",
	ModNum:                       ".num",
	ModNan:                       ".nan",
	ModConst:                     ".const",
	ModGlobal:                    ".global",
	ModLocal:                     ".local",
	ModParam:                     ".param",
	ModParamEntry:                ".param::entry",
	ModParamFunc:                 ".param::func",
	ModShared:                    ".shared",
	ModSharedCta:                 ".shared::cta",
	ModSharedCluster:             ".shared::cluster",
	ModExch:                      ".exch",
	ModCas:                       ".cas",
	ModAdd:                       ".add",
	ModInc:                       ".inc",
	ModDec:                       ".dec",
	ModMin:                       ".min",
	ModMax:                       ".max",
	ModNoftz:                     ".noftz",
	ModFtz:                       ".ftz",
	ModUni:                       ".uni",
	ModIdx:                       ".idx",
	ModMask:                      ".mask",
	ModSync:                      ".sync",
	ModAligned:                   ".aligned",
	ModSat:                       ".sat",
	ModRelu:                      ".relu",
	ModSatfinite:                 ".satfinite",
	ModRs:                        ".rs",
	ModRna:                       ".rna",
	ModFinite:                    ".finite",
	ModInfinite:                  ".infinite",
	ModNumber:                    ".number",
	ModNotanumber:                ".notanumber",
	ModNormal:                    ".normal",
	ModSubnormal:                 ".subnormal",
	ModApprox:                    ".approx",
	ModFull:                      ".full",
	ModNaN:                       ".NaN",
	ModXorsign:                   ".xorsign",
	ModAbs:                       ".abs",
	ModOob:                       ".oob",
	ModClamp:                     ".clamp",
	ModWrap:                      ".wrap",
	ModWide:                      ".wide",
	ModShiftamt:                  ".shiftamt",
	ModCc:                        ".cc",
	ModL:                         ".l",
	ModR:                         ".r",
	ModF4e:                       ".f4e",
	ModB4e:                       ".b4e",
	ModRc8:                       ".rc8",
	ModEcl:                       ".ecl",
	ModEcr:                       ".ecr",
	ModRc16:                      ".rc16",
	ModL1:                        ".L1",
	ModL2:                        ".L2",
	ModWeak:                      ".weak",
	ModAccF32:                    ".acc::f32",
	ModAccF16:                    ".acc::f16",
	ModVolatile:                  ".volatile",
	ModMmio:                      ".mmio",
	ModNc:                        ".nc",
	ModTensormap:                 ".tensormap",
	ModRange:                     ".range",
	ModFractional:                ".fractional",
	ModCvt:                       ".cvt",
	ModRed:                       ".red",
	ModUp:                        ".up",
	ModDown:                      ".down",
	ModBfly:                      ".bfly",
	ModPopc:                      ".popc",
	ModGl:                        ".gl",
	ModSc:                        ".sc",
	ModMbarrierInit:              ".mbarrier_init",
	ModTensormapGeneric:          ".tensormap::generic",
	ModLaunchDependents:          ".launch_dependents",
	ModWait:                      ".wait",
	ModArrive:                    ".arrive",
	ModProxy:                     ".proxy",
	ModSyncRestrictSharedCluster: ".sync_restrict::shared::cluster",
	ModSyncRestrictSharedCta:     ".sync_restrict::shared::cta",
	ModAsyncGeneric:              ".async::generic",
	ModAll:                       ".all",
	ModAny:                       ".any",
	ModBallot:                    ".ballot",
}

var mods, modTypes = indexMods()

func indexMods() (map[string]Mod, [NumMods]Type) {
	byName := make(map[string]Mod, NumMods)
	var types [NumMods]Type
	for m := NoMod + 1; m < NumMods; m++ {
		byName[modNames[m]] = m
		types[m] = typeNames[modNames[m][1:]]
	}
	return byName, types
}

// ModOf finds a word by its spelling with the dot; 0 if the table has no such word.
func ModOf(word string) Mod { return mods[word] }

// String is the word with its dot; "" for no word.
func (m Mod) String() string { return modNames[m] }

// Type is the type the word names, or TypeNone.
func (m Mod) Type() Type { return modTypes[m] }
