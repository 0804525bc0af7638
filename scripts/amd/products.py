"""Matrix products of the emulator, mended: wmma_zero.ll, wmma_iu8.ll, wmma_iu4.ll, wmma_fp8.ll, mfma_f16.ll, mfma_i8.ll.

Its own read a register where the sum begins with a constant, take all bytes for signed ones, know no products of 4 bits, read fp8 as f16, and
f16's subnormal numbers as zero on CDNA, whose products of bytes it cannot execute.
"""
from tinygrad.uop.ops import UOp
from tinygrad.dtype import dtypes
from test.mockgpu.amd import emu


def int_of(word, at, bits, signed):
    """Element at of a register as f32, in which sums of products of bytes are exact, too. As i32, clang 19 multiplies unsigned by signed bytes wrongly."""
    if signed:
        c = lambda n: UOp.const(n, dtypes.int32)
        return (((word << emu._c(32 - bits * (at + 1))).bitcast(dtypes.int32)) >> c(32 - bits)).cast(dtypes.float32)
    return ((word >> emu._c(bits * at)) & emu._c((1 << bits) - 1)).bitcast(dtypes.int32).cast(dtypes.float32)


def half_of(word, at):
    """Element at of a pair of f16 as f32, its subnormals too: a whole number times 2^-24."""
    h = (word >> emu._c(16 * at)) & emu._c(0xffff)
    exp, man, sign = (h >> emu._c(10)) & emu._c(31), h & emu._c(0x3ff), (h >> emu._c(15)) << emu._c(31)
    normal = ((exp + emu._c(112)) << emu._c(23)) | (man << emu._c(13))
    odd = emu._c(0x7f800000) | (man << emu._c(13))
    small = (man.cast(dtypes.float32) * UOp.const(2.0 ** -24, dtypes.float32)).bitcast(dtypes.uint32)
    return (exp.eq(emu._c(0)).where(small, exp.eq(emu._c(31)).where(odd, normal)) | sign).bitcast(dtypes.float32)


def shape_of(name, rdna4):
    """How many elements of k, how many a register has, and where (row, k) and (row, column) are: lane and number of the element, or register."""
    k = int(name.split('16X16X')[1].split('_')[0])
    if 'MFMA' in name:
        part = k // 4
        return k, 2 if 'F16' in name else 4, lambda i, n: (i + 16 * (n // part), n % part), lambda m, n: (n + 16 * (m // 4), m % 4)
    per = 8 if 'IU4' in name else 2 if 'F16' in name else 4
    if rdna4:
        return k, per, lambda i, n: (i + 16 * (2 * n // k), n % (k // 2)), lambda m, n: (n + 16 * (m // 8), m % 8)
    return k, per, lambda i, n: (i, n), lambda m, n: (n + 16 * (m % 2), m // 2)


def mended(old):
    def handler(inst, ctx):
        name, t = emu._op_name(inst), type(inst)
        mine = name.startswith(('V_WMMA_F32', 'V_WMMA_I32')) or name in ('V_MFMA_F32_16X16X16_F16', 'V_MFMA_I32_16X16X32_I8')
        if not mine:
            return old(inst, ctx)
        rdna4 = '.rdna4.' in t.__module__
        k, per, operand, result = shape_of(name, rdna4)
        whole = 'I32' in name
        kinds = name.rsplit('_', 2)[1:] if 'FP8' in name or 'BF8' in name else ()
        lane = lambda n: UOp.const(n, dtypes.int)

        def element(which, word, at):
            if whole:
                return int_of(word, at, 32 // per, 'MFMA' in name or emu._iattr(inst, 'neg') >> which & 1)
            if kinds:
                return emu._FUNCS[kinds[which].lower() + '_to_f32']((word >> emu._c(8 * at)) & emu._c(255))
            if 'BF16' in name:
                return ((word >> emu._c(16 * at)) << emu._c(16)).bitcast(dtypes.float32)
            return half_of(word, at)

        def matrix(which, field):
            reg = ctx.inst_field(field) - emu._c(256)
            words = {}
            def at(i, n):
                l, e = operand(i, n)
                key = (l, e // per)
                if key not in words:
                    words[key] = ctx.rvgpr_dyn(reg + emu._c(e // per), lane(l))
                return element(which, words[key], e % per)
            return [[at(i, n) for n in range(k)] for i in range(16)]

        a, b = matrix(0, t.src0), matrix(1, t.src1)
        src, to, acc = ctx.inst_field(t.src2), ctx.inst_field(t.vdst), bool(emu._iattr(inst, 'acc_cd'))
        read = ctx.raccvgpr_dyn if acc else ctx.rvgpr_dyn
        vector = src >= emu._c(256)
        plain = ctx.rsgpr_dyn(src, vector.ne(True))
        places, sums = [result(m, n) for m in range(16) for n in range(16)], []
        for at, (l, r) in enumerate(places):
            m, n = divmod(at, 16)
            c = vector.where(read(src - emu._c(256 - r), lane(l), vector), plain)
            d = sum((a[m][i] * b[n][i] for i in range(1, k)), a[m][0] * b[n][0])
            sums.append(d.cast(dtypes.int32).bitcast(dtypes.uint32) + c if whole else (d + c.bitcast(dtypes.float32)).bitcast(dtypes.uint32))
        file, mask = (ctx.accvgpr if acc else ctx.vgpr).after(*sums), ctx.rexec()  # the result may lie where an operand does
        stores = []
        for d, (l, r) in zip(sums, places):
            index = (to + emu._c(r)).cast(dtypes.int) * lane(ctx.wave_size) + lane(l)
            stores.append(file.index(index.valid(emu._lane_active(mask, lane(l)))).store(d))
        return UOp.sink(*stores, *ctx.inc_pc())
    return handler
