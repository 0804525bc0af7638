"""What the emulator lacks or gets wrong, mended from outside, each by the kernel in testdata/amd that shows it.

base() is always there: without it calls, caches and RDNA 4's atomics do not run at all. patches() are the faults that docs/amd-results.md
counts; machine.py mends the rest of them (what an instruction does to the wave's mode, division, turns).
"""
import ctypes, itertools, products, re
from tinygrad.uop.ops import UOp, Ops
from tinygrad.dtype import dtypes
from test.mockgpu.amd import emu, pcode

# Words of a wave's register file that the emulator leaves empty, used to tell instructions where things lie.
LDS_AT, SCRATCH_AT = 210, 212
# The upper halves of generic addresses of shared and local memory, as src_shared_base and src_private_base give them.
SHARED, PRIVATE = 0x10000, 0x20000
SHARED_BASE, PRIVATE_BASE = 235, 237


def wrap(name, make):
    """Replaces the emulator's function name by make(old), also where its table of handlers has it."""
    old = getattr(emu, name)
    new = make(old)
    setattr(emu, name, new)
    for kind, handler in list(emu._INST_HANDLERS.items()):
        if handler is old:
            emu._INST_HANDLERS[kind] = new


def done(ctx):
    return UOp.sink(*ctx.inc_pc())


def calls(old):
    """s_getpc_b64, s_setpc_b64 and s_swappc_b64, which calls are made of."""
    def handler(inst, ctx):
        name = emu._op_name(inst)
        if name not in ('S_GETPC_B64', 'S_SETPC_B64', 'S_SWAPPC_B64'):
            return old(inst, ctx)
        stores, after = [], ctx.rpc() + UOp.const(ctx.inst_size, dtypes.uint64)
        to = None if name == 'S_GETPC_B64' else ctx.rsrc_dyn(ctx.inst_field(type(inst).ssrc0), None, 64, None)
        if name != 'S_SETPC_B64':
            d = ctx.inst_field(type(inst).sdst)
            lo, hi = emu._split64(after)
            stores += [ctx.wsgpr_dyn(d, lo), ctx.wsgpr_dyn(d + emu._c(1), hi)]
        lo, hi = emu._split64(after if to is None else to)
        return UOp.sink(*stores, ctx.wsgpr_dyn(emu._c(emu.PC_LO_IDX), lo), ctx.wsgpr_dyn(emu._c(emu.PC_HI_IDX), hi))
    return handler


def caches(old):
    """RDNA 4's and CDNA's instructions for caches: there are none here."""
    def handler(inst, ctx):
        return done(ctx) if emu._op_name(inst) in ('GLOBAL_INV', 'GLOBAL_WB', 'GLOBAL_WBINV', 'BUFFER_INV', 'BUFFER_WBL2') else old(inst, ctx)
    return handler


BUFFER_INV = (0xe0ac0000, 0xe0b00000)  # buffer_gl1_inv, buffer_gl0_inv of RDNA 3, which the emulator cannot read
NOP = 0xbf800000


def skip_inv(pc, arch):
    """Where the code that is about to run invalidates a cache, it does nothing."""
    w = (ctypes.c_uint32 * 2).from_address(pc)
    if arch == 'rdna3' and w[0] in BUFFER_INV and w[1] == 0:
        w[0] = w[1] = NOP


def decoding(old):
    def at(pc, arch):
        skip_inv(pc, arch)
        return old(pc, arch)
    return at


def returns(old):
    """atomic_return.ll: whether an atomic returns is a bit of th on RDNA 4, sc0 on CDNA 3, glc on the others."""
    def attr(inst, name, default=0):
        if name == 'glc' and not hasattr(inst, 'glc'):
            return old(inst, 'th') & 1 if hasattr(inst, 'th') else old(inst, 'sc0')
        return old(inst, name, default)
    return attr


flush = [True]  # whether the kernel that runs wants f32's subnormal numbers flushed; the emulator does so for all


def flushing(old):
    class Flushing:
        def __enter__(self):
            self.inner = old() if flush[0] else None
            return self.inner.__enter__() if self.inner else self

        def __exit__(self, *e):
            return self.inner.__exit__(*e) if self.inner else None
    return Flushing


def base():
    wrap('_compile_sop', calls)
    wrap('_compile_mem_op', caches)
    wrap('_compile_mubuf', caches)
    wrap('_decode_at', decoding)
    wrap('_iattr', returns)
    wrap('_MXCSRContext', flushing)


def nearest(x):
    """rint.ll: to the nearest whole number, ties to even, with the number's sign. x minus its whole part is exact."""
    c = lambda v: UOp.const(v, x.dtype)
    word = {dtypes.float32: dtypes.uint32, dtypes.float64: dtypes.uint64, dtypes.half: dtypes.uint16}[x.dtype]
    top = UOp.const(1 << (8 * x.dtype.itemsize - 1), word)
    whole = UOp(Ops.TRUNC, src=(x,))
    part = x - whole
    half = whole * c(0.5)
    up = (part > c(0.5)) | (part < c(-0.5)) | ((part.eq(c(0.5)) | part.eq(c(-0.5))) & half.ne(UOp(Ops.TRUNC, src=(half,))))
    r = up.where(whole + (x < c(0)).where(c(-1), c(1)), whole)
    return ((r.bitcast(word) & (top - UOp.const(1, word))) | (x.bitcast(word) & top)).bitcast(x.dtype)


def texts(old):
    """What instructions do, in the words of AMD's manual: rint.ll, flat.ll (a generic address has become a plain one, see Ctx)."""
    def get(op):
        name = op.name
        if name.startswith('V_RNDNE_'):
            t = name.split('_')[2].lower()
            return f'D0.{t} = nearest(S0.{t})'
        if '_I24' in name or '_U24' in name:  # mul_hi_i24.ll, mul_hi_u24.ll: 24 bits of the sources count
            return re.sub(r'\bS([01])\.u24', r'(S\1.u32 & 0xffffffU)', re.sub(r'\bS([01])\.i24', r"(32'I((S\1.u32 & 0xffffffU) ^ 0x800000U) - 0x800000)", old(op)))
        if name.startswith('V_FREXP_MANT_F32'):  # frexp.ll: 0 stays 0, and subnormal numbers have a mantissa from 0.5 to 1, too
            return ("if (abs(S0.f32) == 0.0F) then\nD0.f32 = S0.f32\nelsif (abs(S0.f32) < 0.0000000000000000000000000000000000000117549435F) then\nD0.f32 = mantissa(S0.f32 * 16777216.0F)\nelse\n"
                    "D0.f32 = 0.0F\nif (isNAN(64'F(S0.f32)) || (64'F(abs(S0.f32)) == +INF)) then\nD0.f32 = S0.f32\nelse\nD0.f32 = mantissa(S0.f32)\nendif\nendif")
        if name.startswith('V_FREXP_EXP_I32_F32'):
            return ("if ((abs(S0.f32) == 0.0F) || isNAN(64'F(S0.f32)) || (64'F(abs(S0.f32)) == +INF)) then\nD0.i32 = 0\n"
                    "elsif (abs(S0.f32) < 0.0000000000000000000000000000000000000117549435F) then\nD0.i32 = exponent(S0.f32 * 16777216.0F) - 126 - 24\nelse\nD0.i32 = exponent(S0.f32) - 126\nendif")
        m = re.match('V_(?:MIN|MAX)_F(16|32|64)', name)
        if m:  # min_zero.ll, min_zero_f16_f64.ll: of zeros, signs count
            text = old(op)
            for s, n in (('+', '!'), ('-', '')):
                for x in ('S0.f' + m[1], 'S1.f' + m[1]):
                    wide = x if m[1] == '64' else f"64'F({x})"
                    text = text.replace(f'({wide} == {s}0.0)', f'(({wide} == 0.0) && {n}sign({x}))')
            return text
        if name.startswith('FLAT_'):
            for kind in ('VGLOBALOp', 'GLOBALOp'):
                table = getattr(__import__(type(op).__module__, fromlist=['x']), kind, None)
                if table is not None and hasattr(table, 'GLOBAL_' + name[5:]):
                    return old(table['GLOBAL_' + name[5:]])
        return old(op)
    return get


def clamped(old_isnan):
    """clamp.ll: the modifier clamp takes -0 to +0. It is written after an instruction's own text was read."""
    def isnan(v):
        r = old_isnan(v)
        return r | (v <= UOp.const(0.0, v.dtype)) if Ctx.clamps and v.dtype in (dtypes.float32, dtypes.float64, dtypes.half) else r
    return isnan


def signed_zeros(old, larger, word, number):
    """min_zero_f16_f64.ll: v_pk_min_f16 and its like are written with functions, in which signs of zeros do not count either."""
    def choose(*a):
        r = old(*a)
        if len(a) != 2 or r.dtype != number:
            return r
        a, b = (pcode._f16_extract(x) if number == dtypes.half else x.bitcast(number) for x in a)
        zero, bits = UOp.const(0.0, number), lambda x: x.bitcast(word)
        both = bits(a) & bits(b) if larger else bits(a) | bits(b)
        return (a.eq(zero) & b.eq(zero)).where(both.bitcast(number), r)
    return choose


class Ctx(emu._Ctx):
    """The emulator's writer of an instruction, which sees the registers of addresses as the machine does."""
    clamps = False

    def __init__(self, *a):
        super().__init__(*a)
        self.kind, self.lo, self.hi, self.add, self.acc = '', None, None, None, False

    def rvgpr_dyn(self, reg, lane, valid=None):
        if self.acc and reg is not self.lo and reg is not self.hi:  # acc_data.ll: data, for addresses are never there
            return self.raccvgpr_dyn(reg, lane, valid)
        v = super().rvgpr_dyn(reg, lane, valid)
        if reg is self.lo and self.kind == 'lds':  # lds_off.ll: lanes that are switched off read nothing
            return emu._lane_active(self.rexec(), lane).where(v, emu._c(0))
        if reg is self.lo and self.kind == 'scratch':  # scratch_negative.ll: registers of an address are added in 32 bits
            return v.bitcast(dtypes.int32)
        if self.kind == 'flat' and (reg is self.lo or reg is self.hi):
            return emu._split64(self.generic(lane))[0 if reg is self.lo else 1]
        return v

    def rsgpr_dyn(self, reg, valid=None):
        v = super().rsgpr_dyn(reg, valid)
        return v.bitcast(dtypes.int32) if self.kind == 'scratch' and reg is self.add else v

    def generic(self, lane):
        """flat.ll: where the memory of a generic address lies."""
        read = super().rvgpr_dyn
        s = lambda i: super(Ctx, self).rsgpr_dyn(emu._c(i))
        at = lambda i: emu._u64(s(i), s(i + 1))
        lo, hi = read(self.lo, lane), read(self.hi, lane)
        own = at(SCRATCH_AT) + lane.cast(dtypes.uint64) * s(emu.SCRATCH_STRIDE_IDX).cast(dtypes.uint64)
        low = lo.cast(dtypes.uint64)
        return hi.eq(emu._c(SHARED)).where(at(LDS_AT) + low, hi.eq(emu._c(PRIVATE)).where(own + low, emu._u64(lo, hi)))

    def optional_field(self, inst, name):
        if name == 'saddr' and self.kind == 'flat':  # flat.ll: a generic address has no register beside it, whatever the field says
            return emu._c(127)
        return super().optional_field(inst, name)

    across = None  # the literal of an instruction that goes across lanes

    def compile_lane_pcode(self, op, inst):
        self.across = self.optional_field(inst, 'literal')
        try:
            return super().compile_lane_pcode(op, inst)
        finally:
            self.across = None

    def rsrc_dyn(self, off, lane, bits=32, *a, **k):
        if self.across is not None and not a and 'literal' not in k:  # permlane_literal.ll
            k['literal'] = self.across
        v = super().rsrc_dyn(off, lane, bits, *a, **k)
        for reg, top in ((SHARED_BASE, SHARED), (PRIVATE_BASE, PRIVATE)):
            c = UOp.const(top << 32, dtypes.uint64) if bits == 64 else emu._c(top)
            if bits == 64 and v.dtype == dtypes.uint64 or bits == 32 and v.dtype == dtypes.uint32:
                v = off.eq(emu._c(reg)).where(c, v)
        if v.dtype in (dtypes.uint32, dtypes.uint64) and bits >= 32:  # inv2pi.ll: a hardware register lies in its place
            c = UOp.const(0x3fc45f306dc9c882, dtypes.uint64) if bits == 64 else emu._c(0x3e22f983)
            v = off.eq(emu._c(248)).where(c, v)
        return v

    def compile_vop_pcode(self, *a, **k):
        Ctx.wanted = bool(k.get('clmp'))
        try:
            return super().compile_vop_pcode(*a, **k)
        finally:
            Ctx.wanted = Ctx.clamps = False

    wanted = False
    sdwa = None  # the instruction, if one of parts of registers has the modifier clamp


def read(old):
    def parse(*a):
        Ctx.clamps = False
        r = old(*a)
        Ctx.clamps = Ctx.wanted
        return (r[0], [(to, limited(to, v, a[1])) for to, v in r[1]]) if Ctx.sdwa is not None else r
    return parse


def limited(to, v, srcs):
    """sdwa_clamp.ll, sdwa_clamp_f16.ll: clamp on CDNA's instructions of parts of registers."""
    if not to.startswith('D0') or '[laneId]' in to:
        return v
    if v.dtype not in (dtypes.float32, dtypes.half):
        r = emu._int_clamp(emu._op_name(Ctx.sdwa), srcs)
        return v if r is None else r
    zero = UOp.const(0.0, v.dtype)
    return (emu._FUNCS['isNAN'](v) | (v <= zero)).where(zero, v.minimum(UOp.const(1.0, v.dtype)))


def parts(old):
    def handler(inst, ctx):
        Ctx.sdwa = inst if emu._iattr(inst, 'clmp') else None
        try:
            return old(inst, ctx)
        finally:
            Ctx.sdwa = None
    return handler


def saturated(old):
    """sadd_sat.ll, ssub_sat16.ll: v_add_i32 and v_sub_i32 of CDNA, and of 16 bits anywhere, with the modifier clamp."""
    def clamp(name, srcs):
        if name.startswith(('V_ADD_I16', 'V_SUB_I16', 'V_ADD_NC_I16', 'V_SUB_NC_I16')):
            low = lambda s: ((srcs[s].cast(dtypes.uint32) & emu._c(0xffff)) ^ emu._c(0x8000)).bitcast(dtypes.int32) - UOp.const(0x8000, dtypes.int32)
            a, b = low('S0'), low('S1')
            return (a + b if 'ADD' in name else a - b).clamp(-1 << 15, (1 << 15) - 1).bitcast(dtypes.uint32) & emu._c(0xffff)
        if not name.startswith(('V_ADD_I32', 'V_SUB_I32')):
            return old(name, srcs)
        a, b = (srcs[s].bitcast(dtypes.int32).cast(dtypes.int64) for s in ('S0', 'S1'))
        return (a + b if 'ADD' in name else a - b).clamp(-1 << 31, (1 << 31) - 1).cast(dtypes.int32).bitcast(dtypes.uint32)
    return clamp


def addresses(old):
    def handler(inst, ctx):
        kind, t = type(inst).__name__, type(inst)
        ctx.kind = 'lds' if kind == 'DS' else 'scratch' if kind in ('SCRATCH', 'VSCRATCH') else 'flat' if kind in ('FLAT', 'VFLAT') else ''
        if 'PERMUTE' in emu._op_name(inst):
            ctx.kind = ''
        ctx.lo = ctx.inst_field(getattr(t, 'vaddr' if hasattr(t, 'vaddr') else 'addr'))
        ctx.hi = ctx.lo + emu._c(1)
        ctx.add = ctx.optional_field(inst, 'saddr')
        ctx.acc = bool(emu._iattr(inst, 'acc'))
        return old(inst, ctx)
    return handler


def crossed(old):
    """row_xmask, which is control 0x160 and up since RDNA 1: the emulator takes it for row_share and stops."""
    def control(lane, dpp, row_mask, bank_mask, wave_size):
        if not 0x160 <= dpp < 0x170:
            return old(lane, dpp, row_mask, bank_mask, wave_size)
        _, enabled, valid = old(lane, 0x140, row_mask, bank_mask, wave_size)
        return lane.cast(dtypes.int) ^ emu._c(dpp & 15, dtypes.int), enabled, valid
    return control


def before(old):
    """dpp_inplace.ll: lanes read what was in the register before the instruction. It is copied to a register that no kernel here has."""
    spare = 255

    def load(ctx, inst, lane, fallback):
        at = lambda reg, n: reg * emu._c(ctx.wave_size, dtypes.int) + n
        each = ctx.range()
        copied = ctx.vgpr.index(at(emu._c(spare, dtypes.int), each)).store(ctx.rvgpr_dyn(ctx.inst_field(type(inst).vsrc0), each)).end(each)
        kept, plain = ctx.vgpr.after(copied), ctx.rvgpr_dyn
        ctx.rvgpr_dyn = lambda reg, n, valid=None: kept.index(at(emu._c(spare, dtypes.int), n.cast(dtypes.int))).load()
        try:
            return old(ctx, inst, lane, fallback)
        finally:
            ctx.rvgpr_dyn = plain
    return load


def patches():
    emu._FUNCS['nearest'] = nearest
    for name, (end, word, number) in itertools.product(('min', 'max', 'min_num', 'max_num'), (('f16', dtypes.uint16, dtypes.half), ('f32', dtypes.uint32, dtypes.float32))):
        f = f'v_{name}_{end}'
        emu._FUNCS[f] = signed_zeros(emu._FUNCS[f], 'max' in name, word, number)
    emu._FUNCS['isNAN'] = clamped(emu._FUNCS['isNAN'])
    emu._Ctx = Ctx
    wrap('parse_pcode', read)
    wrap('get_pcode', texts)
    wrap('_int_clamp', saturated)
    wrap('_compile_mem_op', addresses)
    wrap('_compile_sdwa', parts)
    wrap('_compile_vop3p', products.mended)
    wrap('_dpp16_ctrl', crossed)
    wrap('_load_dpp16_src0', before)
