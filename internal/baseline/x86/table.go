package x86

// Prefixes and opcode maps.
const (
	np, p66, pF3, pF2 = 0, 1, 2, 3
	m0F, m38, m3A     = 1, 2, 3
)

// both is an instruction with VEX and EVEX forms that ignore W in the VEX form; wide sets EVEX.W.
func both(prefix, page, code byte) Op { return Op{prefix: prefix, page: page, code: code} }
func wide(prefix, page, code byte) Op { return Op{prefix: prefix, page: page, code: code, w: 1} }

// exact is one whose VEX form heeds W.
func exact(prefix, page, code, w byte) Op {
	return Op{prefix: prefix, page: page, code: code, w: w, vexW: true}
}

// only is one without a VEX form.
func only(prefix, page, code, w byte) Op {
	return Op{prefix: prefix, page: page, code: code, w: w, evex: true}
}

// vex is one without an EVEX form.
func vex(prefix, page, code, w byte) Op {
	return Op{prefix: prefix, page: page, code: code, w: w, vexW: true, old: true}
}

// kmove moves a mask register.
func kmove(prefix, page, code, w byte) Op {
	op := vex(prefix, page, code, w)
	op.masks = true
	return op
}

// of is op with memory of other units than a whole vector.
func (op Op) of(t tuple) Op {
	op.tuple = t
	return op
}

// ext is op with an opcode extension: the destination is in the prefix.
func (op Op) ext(n byte) Op {
	op.reg = n + 1
	return op
}

// Integer arithmetic and logic.
var (
	VPADDB, VPADDW, VPADDD, VPADDQ = both(p66, m0F, 0xfc), both(p66, m0F, 0xfd), both(p66, m0F, 0xfe), wide(p66, m0F, 0xd4)
	VPSUBB, VPSUBW, VPSUBD, VPSUBQ = both(p66, m0F, 0xf8), both(p66, m0F, 0xf9), both(p66, m0F, 0xfa), wide(p66, m0F, 0xfb)
	VPMULLW, VPMULLD, VPMULLQ      = both(p66, m0F, 0xd5), both(p66, m38, 0x40), only(p66, m38, 0x40, 1)
	VPMULUDQ                       = wide(p66, m0F, 0xf4)
	VPMADDWD                       = both(p66, m0F, 0xf5)
	VPDPBUSD                       = only(p66, m38, 0x50, 0)

	VPANDD, VPORD, VPXORD, VPANDND = both(p66, m0F, 0xdb), both(p66, m0F, 0xeb), both(p66, m0F, 0xef), both(p66, m0F, 0xdf)
	VPTERNLOGD                     = only(p66, m3A, 0x25, 0)

	VPMINSB, VPMINSW, VPMINSD, VPMINSQ = both(p66, m38, 0x38), both(p66, m0F, 0xea), both(p66, m38, 0x39), only(p66, m38, 0x39, 1)
	VPMAXSB, VPMAXSW, VPMAXSD, VPMAXSQ = both(p66, m38, 0x3c), both(p66, m0F, 0xee), both(p66, m38, 0x3d), only(p66, m38, 0x3d, 1)
	VPMINUB, VPMINUW, VPMINUD, VPMINUQ = both(p66, m0F, 0xda), both(p66, m38, 0x3a), both(p66, m38, 0x3b), only(p66, m38, 0x3b, 1)
	VPMAXUB, VPMAXUW, VPMAXUD, VPMAXUQ = both(p66, m0F, 0xde), both(p66, m38, 0x3e), both(p66, m38, 0x3f), only(p66, m38, 0x3f, 1)
	VPABSB, VPABSW, VPABSD, VPABSQ     = both(p66, m38, 0x1c), both(p66, m38, 0x1d), both(p66, m38, 0x1e), only(p66, m38, 0x1f, 1)

	VPADDSB, VPADDSW, VPADDUSB, VPADDUSW = both(p66, m0F, 0xec), both(p66, m0F, 0xed), both(p66, m0F, 0xdc), both(p66, m0F, 0xdd)
	VPSUBSB, VPSUBSW, VPSUBUSB, VPSUBUSW = both(p66, m0F, 0xe8), both(p66, m0F, 0xe9), both(p66, m0F, 0xd8), both(p66, m0F, 0xd9)
)

// Shifts and rotations.
var (
	VPSLLVW, VPSLLVD, VPSLLVQ = only(p66, m38, 0x12, 1), exact(p66, m38, 0x47, 0), exact(p66, m38, 0x47, 1)
	VPSRLVW, VPSRLVD, VPSRLVQ = only(p66, m38, 0x10, 1), exact(p66, m38, 0x45, 0), exact(p66, m38, 0x45, 1)
	VPSRAVW, VPSRAVD, VPSRAVQ = only(p66, m38, 0x11, 1), exact(p66, m38, 0x46, 0), only(p66, m38, 0x46, 1)
	VPSLLW, VPSLLD, VPSLLQ    = both(p66, m0F, 0x71).ext(6), both(p66, m0F, 0x72).ext(6), wide(p66, m0F, 0x73).ext(6)
	VPSRLD, VPSRLQ            = both(p66, m0F, 0x72).ext(2), wide(p66, m0F, 0x73).ext(2)
)

// Comparisons. Those with an immediate write a mask register; the others, and VCMPPS with a VEX prefix, a vector.
var (
	VPCMPEQB, VPCMPEQW, VPCMPEQD, VPCMPEQQ = vex(p66, m0F, 0x74, 0), vex(p66, m0F, 0x75, 0), vex(p66, m0F, 0x76, 0), vex(p66, m38, 0x29, 0)
	VPCMPGTB, VPCMPGTW, VPCMPGTD, VPCMPGTQ = vex(p66, m0F, 0x64, 0), vex(p66, m0F, 0x65, 0), vex(p66, m0F, 0x66, 0), vex(p66, m38, 0x37, 0)
	VPCMPB, VPCMPW, VPCMPD, VPCMPQ         = only(p66, m3A, 0x3f, 0), only(p66, m3A, 0x3f, 1), only(p66, m3A, 0x1f, 0), only(p66, m3A, 0x1f, 1)
	VPCMPUB, VPCMPUW, VPCMPUD, VPCMPUQ     = only(p66, m3A, 0x3e, 0), only(p66, m3A, 0x3e, 1), only(p66, m3A, 0x1e, 0), only(p66, m3A, 0x1e, 1)
	VCMPPS, VCMPPD                         = both(np, m0F, 0xc2), wide(p66, m0F, 0xc2)
	VUCOMISS, VUCOMISD                     = both(np, m0F, 0x2e).of(one4), wide(p66, m0F, 0x2e).of(one8)
	VMOVMSKPS, VMOVMSKPD, VPMOVMSKB        = vex(np, m0F, 0x50, 0), vex(p66, m0F, 0x50, 0), vex(p66, m0F, 0xd7, 0)
	VPBLENDVB                              = vex(p66, m3A, 0x4c, 0)
)

// Moves.
var (
	VMOVDQU, VMOVDQUStore                 = both(pF3, m0F, 0x6f), both(pF3, m0F, 0x7f) // elements of 32 bits under a mask
	VMOVDQU64, VMOVDQU64Store             = wide(pF3, m0F, 0x6f), wide(pF3, m0F, 0x7f)
	VMOVDQU8, VMOVDQU8Store               = only(pF2, m0F, 0x6f, 0), only(pF2, m0F, 0x7f, 0)
	VMOVDQU16, VMOVDQU16Store             = only(pF2, m0F, 0x6f, 1), only(pF2, m0F, 0x7f, 1)
	VMOVD, VMOVDStore                     = exact(p66, m0F, 0x6e, 0).of(one4), exact(p66, m0F, 0x7e, 0).of(one4)
	VMOVQ, VMOVQStore                     = exact(p66, m0F, 0x6e, 1).of(one8), exact(p66, m0F, 0x7e, 1).of(one8)
	VMASKMOVD, VMASKMOVDStore             = vex(p66, m38, 0x8c, 0), vex(p66, m38, 0x8e, 0)
	VMASKMOVQ, VMASKMOVQStore             = vex(p66, m38, 0x8c, 1), vex(p66, m38, 0x8e, 1)
	VPBROADCASTB, VPBROADCASTW            = both(p66, m38, 0x78).of(one1), both(p66, m38, 0x79).of(one2)
	VPBROADCASTD, VPBROADCASTQ            = both(p66, m38, 0x58).of(one4), wide(p66, m38, 0x59).of(one8)
	VPGATHERDD, VPGATHERQD, VPGATHERQQ    = only(p66, m38, 0x90, 0).of(one4), only(p66, m38, 0x91, 0).of(one4), only(p66, m38, 0x91, 1).of(one8)
	VGATHERQD, VGATHERQQ                  = vex(p66, m38, 0x91, 0), vex(p66, m38, 0x91, 1) // AVX2's: the mask is the source, lanes' signs
	VPSCATTERDD, VPSCATTERQD, VPSCATTERQQ = only(p66, m38, 0xa0, 0).of(one4), only(p66, m38, 0xa1, 0).of(one4), only(p66, m38, 0xa1, 1).of(one8)
)

// Permutations.
var (
	VPERMD, VPERMQ            = both(p66, m38, 0x36), only(p66, m38, 0x36, 1)
	VPERMI2D, VPERMI2Q        = only(p66, m38, 0x76, 0), only(p66, m38, 0x76, 1)
	VPCOMPRESSD               = only(p66, m38, 0x8b, 0).of(one4)
	VPERMQImm                 = exact(p66, m3A, 0x00, 1)
	VPSHUFB                   = both(p66, m38, 0x00)
	VPACKSSWB                 = both(p66, m0F, 0x63)
	VINSERTI128, VEXTRACTI128 = vex(p66, m3A, 0x38, 0), both(p66, m3A, 0x39)
	VEXTRACTI256              = only(p66, m3A, 0x3b, 1).of(half)
	VPBLENDD                  = vex(p66, m3A, 0x02, 0)
)

// Widening and narrowing of integers, and masks as vectors.
var (
	VPMOVZXBW, VPMOVZXBD, VPMOVZXBQ = both(p66, m38, 0x30).of(half), both(p66, m38, 0x31).of(quarter), both(p66, m38, 0x32).of(eighth)
	VPMOVZXWD, VPMOVZXWQ, VPMOVZXDQ = both(p66, m38, 0x33).of(half), both(p66, m38, 0x34).of(quarter), both(p66, m38, 0x35).of(half)
	VPMOVSXBW, VPMOVSXBD, VPMOVSXBQ = both(p66, m38, 0x20).of(half), both(p66, m38, 0x21).of(quarter), both(p66, m38, 0x22).of(eighth)
	VPMOVSXWD, VPMOVSXWQ, VPMOVSXDQ = both(p66, m38, 0x23).of(half), both(p66, m38, 0x24).of(quarter), both(p66, m38, 0x25).of(half)
	VPMOVWB, VPMOVDB, VPMOVQB       = only(pF3, m38, 0x30, 0).of(half), only(pF3, m38, 0x31, 0).of(quarter), only(pF3, m38, 0x32, 0).of(eighth)
	VPMOVDW, VPMOVQW, VPMOVQD       = only(pF3, m38, 0x33, 0).of(half), only(pF3, m38, 0x34, 0).of(quarter), only(pF3, m38, 0x35, 0).of(half)
	VPMOVM2B, VPMOVM2W              = only(pF3, m38, 0x28, 0), only(pF3, m38, 0x28, 1)
	VPMOVM2D, VPMOVM2Q              = only(pF3, m38, 0x38, 0), only(pF3, m38, 0x38, 1)
)

// Floats.
var (
	VADDPS, VADDPD, VADDSS, VADDSD = both(np, m0F, 0x58), wide(p66, m0F, 0x58), both(pF3, m0F, 0x58).of(one4), wide(pF2, m0F, 0x58).of(one8)
	VSUBPS, VSUBPD, VSUBSS, VSUBSD = both(np, m0F, 0x5c), wide(p66, m0F, 0x5c), both(pF3, m0F, 0x5c).of(one4), wide(pF2, m0F, 0x5c).of(one8)
	VMULPS, VMULPD                 = both(np, m0F, 0x59), wide(p66, m0F, 0x59)
	VDIVPS, VDIVPD                 = both(np, m0F, 0x5e), wide(p66, m0F, 0x5e)
	VSQRTPS, VSQRTPD               = both(np, m0F, 0x51), wide(p66, m0F, 0x51)
	VMINPS, VMINPD                 = both(np, m0F, 0x5d), wide(p66, m0F, 0x5d)
	VMAXPS, VMAXPD, VMAXSS, VMAXSD = both(np, m0F, 0x5f), wide(p66, m0F, 0x5f), both(pF3, m0F, 0x5f).of(one4), wide(pF2, m0F, 0x5f).of(one8)
	VFMADD213PS, VFMADD213PD       = exact(p66, m38, 0xa8, 0), exact(p66, m38, 0xa8, 1)
	VROUNDPS, VROUNDPD             = both(p66, m3A, 0x08), wide(p66, m3A, 0x09)
	VMOVSS                         = both(pF3, m0F, 0x10).of(one4)
	VMOVSD                         = wide(pF2, m0F, 0x10).of(one8)
)

// Conversions of floats. Those that narrow have the wide vector's length; VCVTPS2PH's destination is its RM operand.
var (
	VCVTDQ2PS, VCVTUDQ2PS    = both(np, m0F, 0x5b), only(pF2, m0F, 0x7a, 0)
	VCVTTPS2DQ, VCVTTPS2UDQ  = both(pF3, m0F, 0x5b), only(np, m0F, 0x78, 0)
	VCVTDQ2PD, VCVTUDQ2PD    = both(pF3, m0F, 0xe6).of(half), only(pF3, m0F, 0x7a, 0).of(half)
	VCVTTPD2DQ, VCVTTPD2UDQ  = wide(p66, m0F, 0xe6), only(np, m0F, 0x78, 1)
	VCVTQQ2PD, VCVTUQQ2PD    = only(pF3, m0F, 0xe6, 1), only(pF3, m0F, 0x7a, 1)
	VCVTTPD2QQ, VCVTTPD2UQQ  = only(p66, m0F, 0x7a, 1), only(p66, m0F, 0x78, 1)
	VCVTQQ2PS, VCVTUQQ2PS    = only(np, m0F, 0x5b, 1), only(pF2, m0F, 0x7a, 1)
	VCVTTPS2QQ, VCVTTPS2UQQ  = only(p66, m0F, 0x7a, 0).of(half), only(p66, m0F, 0x78, 0).of(half)
	VCVTPD2PS, VCVTPS2PD     = wide(p66, m0F, 0x5a), both(np, m0F, 0x5a).of(half)
	VCVTPH2PS, VCVTPS2PH     = both(p66, m38, 0x13).of(half), both(p66, m3A, 0x1d).of(half)
	VCVTSI2SSQ               = exact(pF3, m0F, 0x2a, 1).of(one8)
	VCVTTSS2SIQ, VCVTTSD2SIQ = exact(pF3, m0F, 0x2c, 1).of(one4), exact(pF2, m0F, 0x2c, 1).of(one8)
)

// Mask registers: moves from memory or another mask, to memory, from and to general registers, by the number of lanes.
var (
	KMOVB, KMOVW, KMOVD, KMOVQ                     = kmove(p66, m0F, 0x90, 0), kmove(np, m0F, 0x90, 0), kmove(p66, m0F, 0x90, 1), kmove(np, m0F, 0x90, 1)
	KMOVBStore, KMOVWStore, KMOVDStore, KMOVQStore = kmove(p66, m0F, 0x91, 0), kmove(np, m0F, 0x91, 0), kmove(p66, m0F, 0x91, 1), kmove(np, m0F, 0x91, 1)
	KMOVWFrom                                      = kmove(np, m0F, 0x92, 0)
	KMOVWTo                                        = kmove(np, m0F, 0x93, 0)
)
