"""A grid on the emulator: the registers that a kernel starts with, and, where it is mended, whose turn it is.

plain() leaves the running to the emulator. Machine runs it itself: waves take turns (turns.ll), and the blocks of a cooperative launch do
(grid.ll); each wave has local memory of its own; the mode of rounding and flushing is the wave's, by type (setreg.ll, round_mode.ll);
division (fdiv.ll, fdiv64.ll) and compare-and-swap of 64 bits (cmpxchg64.ll) are done here.
"""
import ctypes, itertools, os, struct, subprocess, tempfile, time
from tinygrad.device import Buffer, BufferSpec
from tinygrad.dtype import dtypes
from tinygrad.runtime.autogen import amdgpu_kd, hsa
from test.mockgpu.amd import emu
import mends

M32 = 0xffffffff
DYNAMIC_STACK = 16 << 10  # what backend/hip asks for where a kernel's depth is not known
TURN = 2000               # instructions
LDS_BYTES = 128 << 10     # twice what an offset reaches


def lanes():
    """lanes.c, compiled."""
    here, out = os.path.dirname(os.path.abspath(__file__)), tempfile.mkdtemp() + '/lanes.so'
    subprocess.check_call([os.environ.get('CC', 'cc'), '-O2', '-shared', '-fPIC', '-o', out, here + '/lanes.c'])
    return ctypes.CDLL(out)


def arch_of(name):
    return 'rdna4' if name.startswith('gfx12') else 'rdna3' if name.startswith('gfx11') else 'cdna'


class Launch:
    """One line of the double's protocol (internal/testkit/hipdouble), and what the kernel's descriptor adds to it."""
    def __init__(self, kv):
        three = lambda k: [int(x) for x in kv[k].split(',')]
        num = lambda k: int(kv.get(k, '0'), 0)
        self.grid, self.block, self.arch = three('grid'), three('block'), arch_of(kv['arch'])
        self.base, self.size, self.entry, self.args = num('base'), num('size'), num('entry'), num('kernarg')
        self.cooperative = num('cooperative') != 0
        d = amdgpu_kd.llvm_amdhsa_kernel_descriptor_t.from_buffer_copy(ctypes.string_at(num('kd'), 64))
        props = d.kernel_code_properties
        self.packet = hsa.hsa_kernel_dispatch_packet_t(
            workgroup_size_x=self.block[0], workgroup_size_y=self.block[1], workgroup_size_z=self.block[2],
            grid_size_x=self.grid[0] * self.block[0], grid_size_y=self.grid[1] * self.block[1], grid_size_z=self.grid[2] * self.block[2],
            kernarg_address=self.args)
        pair = lambda a: [a & M32, a >> 32]
        self.user = []
        # In the descriptor's order: private segment buffer, dispatch pointer, queue pointer, arguments, dispatch id, flat scratch, its size.
        for bit, words in enumerate(([0] * 4, pair(ctypes.addressof(self.packet)), [0, 0], pair(self.args), [0, 0], [0, 0], [0])):
            if props >> bit & 1:
                self.user += words
        self.rsrc2 = d.compute_pgm_rsrc2 & ~(0x1ff << 15) | (d.group_segment_fixed_size + num('lds') + 511) // 512 << 15
        self.scratch = d.private_segment_fixed_size + (DYNAMIC_STACK if props & 0x800 else 0)
        self.mode = d.compute_pgm_rsrc1 >> 12 & 0xff


def plain(l):
    """The emulator's own way to run a grid."""
    mends.flush[0] = l.mode >> 4 & 3 == 0
    emu.run_asm(l.entry, l.base + l.size - l.entry, *l.grid, *l.block, l.args, l.rsrc2, l.scratch, l.arch, l.user)


class Wave:
    __slots__ = ('st', 'args', 'mode', 'csr', 'waits', 'done', 'scratch')

    def set_mode(self, mode, base):
        self.mode = mode
        rounding, denormal = (0, 0x4000, 0x2000, 0x6000), lambda f: (0 if f & 1 else 0x40) | (0 if f & 2 else 0x8000)
        one = lambda r, f: base | rounding[mode >> r & 3] | denormal(mode >> f & 3)
        self.csr = (base, one(0, 4), one(2, 6))  # for what is no floating-point number, for f32, for f16 and f64


def mode_class(name):
    """Which mode an instruction goes by: a conversion by what it makes, unless that is exact."""
    if name.startswith('V_CVT_'):
        w = name.split('_')
        if w[2:4] == ['F64', 'F32']:
            return 1
        if w[2:4] == ['F32', 'F16']:
            return 2
        if w[2] in ('F32', 'F64', 'F16'):
            return 1 if w[2] == 'F32' else 2
    return 1 if 'F32' in name else 2 if 'F64' in name or 'F16' in name else 0


class Machine:
    def __init__(self):
        self.c = lanes()
        self.base = self.c.get_csr() & ~0xe07f
        self.vmem = Buffer('CPU', 1 << 40, dtypes.uint32, options=BufferSpec(external_ptr=0)).ensure_allocated()

    def run(self, l):
        self.l, self.program = l, {}
        self.wave_size = emu._wave_size(l.arch)
        ids = [(x, y, z) for z, y, x in itertools.product(*(range(n) for n in reversed(l.grid)))]
        saved = self.c.get_csr()
        try:
            if l.cooperative:
                self.together([self.new_block(i) for i in ids])
            else:
                for i in ids:
                    self.together([self.new_block(i)])
        finally:
            self.c.set_csr(saved)

    def new_block(self, ids):
        l = self.l
        lds = Buffer('CPU', LDS_BYTES // 4, dtypes.uint32).ensure_allocated()
        ctypes.memset(lds._buf.va_addr, 0xa5, LDS_BYTES)  # what a block finds there is nobody's business
        waves, threads = [], l.block[0] * l.block[1] * l.block[2]
        for start in range(0, threads, self.wave_size):
            w = Wave()
            w.st = emu._init_wave(l.entry, start, threads, *l.block, l.args, l.rsrc2, l.scratch, l.arch, *ids, l.user, self.wave_size)
            w.scratch = Buffer('CPU', max(l.scratch, 4) * self.wave_size, dtypes.uint8).ensure_allocated()
            at = [b._buf.va_addr for b in (w.st.sgpr_buf, w.st.vgpr_buf, self.vmem, lds, w.scratch, w.st.accvgpr_buf)]
            for reg, a in ((mends.LDS_AT, at[3]), (mends.SCRATCH_AT, at[4])):
                w.st._write_sgpr(reg, a)
                w.st._write_sgpr(reg + 1, a >> 32)
            w.args, w.waits, w.done = [ctypes.c_uint64(a) for a in at], False, False
            w.set_mode(l.mode, self.base)
            waves.append((w, lds))
        return [w for w, _ in waves], lds

    def together(self, blocks):
        """Runs blocks until all are done. A barrier opens when all waves of its block that go on have come to it."""
        while True:
            left = False
            for waves, _ in blocks:
                for w in waves:
                    if not w.done and not w.waits:
                        self.turn(w)
                live = [w for w in waves if not w.done]
                if live and all(w.waits for w in live):
                    for w in live:
                        w.waits = False
                left = left or bool(live)
            if not left:
                return

    def turn(self, w):
        """A wave's turn: to a barrier, a sleep, its end, or TURN instructions."""
        st, program, set_csr, csr = w.st, self.program, self.c.set_csr, None
        for _ in range(TURN):
            pc = st.pc
            if pc == emu.ENDPGM_PC:
                w.done = True
                break
            what = program.get(pc)
            if what is None:
                what, csr = self.decode(pc), None  # which works with the mode of its own
            native, fn, which, cls, inst, stop = what
            if native is not None:
                native(self, w, inst, pc)
                csr = None
                continue
            if w.csr[cls] != csr:
                csr = w.csr[cls]
                set_csr(csr)
            a = w.args
            fn(*[a[i] for i in which])
            if stop:
                w.waits = stop == 'barrier'
                break
        set_csr(self.base)

    def decode(self, pc):
        self.c.set_csr(self.base)
        mends.skip_inv(pc, self.l.arch)
        b = bytes((ctypes.c_char * 16).from_address(pc).raw)
        inst = emu.decode_inst(b, self.l.arch)
        name = emu._op_name(inst)
        native, fn, which = natives.get(name), None, ()
        if name == 'S_GETREG_B32':
            native = {1: get_mode, 29: cycles, 30: cycles}.get(field(inst, b, 'simm16') & 0x3f)
        if type(inst).__name__.endswith('_SDWA') and emu._iattr(inst, 'clmp') and name.startswith(('V_ADD_U32', 'V_SUB_U32', 'V_SUBREV_U32')):
            native = sdwa_clamp
        if native is None:
            (prg, runtime), inst = emu._decode_at(pc, self.l.arch)
            fn, which = runtime.fxn, prg.arg.globals
        stop = 'barrier' if name in ('S_BARRIER', 'S_BARRIER_WAIT') else 'sleep' if name.startswith('S_SLEEP') else ''
        self.program[pc] = (native, fn, which, mode_class(name), (inst, b), stop)
        return self.program[pc]


def field(inst, b, name):
    f = getattr(type(inst), name)
    return int.from_bytes(b, 'little') >> f.lo & (1 << f.hi - f.lo + 1) - 1


def signed(v, bits):
    return v - (1 << bits) if v >> bits - 1 else v


def after(w, inst, pc):
    w.st.pc = pc + inst.size()


def mode_write(m, w, at, size, value):
    mask = (1 << size) - 1 << at
    w.set_mode(w.mode & ~mask & 0xff | value << at & mask & 0xff, m.base)


def set_reg(m, w, i, pc):
    inst, b = i
    imm = field(inst, b, 'simm16')
    if imm & 0x3f == 1:
        v = field(inst, b, 'literal') if hasattr(type(inst), 'literal') else w.st._read_sgpr(field(inst, b, 'sdst'))
        mode_write(m, w, imm >> 6 & 31, (imm >> 11) + 1, v)
    after(w, inst, pc)


def get_mode(m, w, i, pc):
    inst, b = i
    imm = field(inst, b, 'simm16')
    w.st._write_sgpr(field(inst, b, 'sdst'), w.mode >> (imm >> 6 & 31) & (1 << (imm >> 11) + 1) - 1)
    after(w, inst, pc)


def counted(w, i, pc, reg, value):
    """clocks.ll: a counter of 64 bits into two registers."""
    w.st._write_sgpr(reg, value)
    w.st._write_sgpr(reg + 1, value >> 32)
    after(w, i[0], pc)


def memtime(m, w, i, pc):
    counted(w, i, pc, field(*i, 'sdata'), time.perf_counter_ns() * 2)


def realtime(m, w, i, pc):
    inst = i[0]
    counted(w, i, pc, field(*i, 'sdata' if hasattr(type(inst), 'sdata') else 'sdst'), time.perf_counter_ns() // 10)


def cycles(m, w, i, pc):
    imm, now = field(*i, 'simm16'), time.perf_counter_ns() * 2
    w.st._write_sgpr(field(*i, 'sdst'), (now >> 32 if imm & 0x3f == 30 else now) & (1 << (imm >> 11) + 1) - 1)
    after(w, i[0], pc)


def round_mode(m, w, i, pc):
    mode_write(m, w, 0, 4, field(*i, 'simm16'))
    after(w, i[0], pc)


def denorm_mode(m, w, i, pc):
    mode_write(m, w, 4, 4, field(*i, 'simm16'))
    after(w, i[0], pc)


def source(w, inst, b, i, bits):
    """A source of a vector instruction as an array, with its modifiers."""
    raw, st = field(inst, b, 'src%d' % i), w.st
    neg = field(inst, b, 'neg') >> i & 1
    mag = field(inst, b, 'abs') >> i & 1 if hasattr(type(inst), 'abs') else 0
    n = st.wave_size
    if raw >= 256:
        at = (raw - 256) * n
        v = list(st._vgpr_mv[at:at + n])
        if bits == 64:
            v = [x | y << 32 for x, y in zip(v, st._vgpr_mv[at + n:at + 2 * n])]
    else:
        s = field(inst, b, 'literal') if raw == 255 and hasattr(type(inst), 'literal') else st._read_sgpr(raw)
        if bits == 64:
            if raw < 128:
                s |= st._read_sgpr(raw + 1) << 32
            elif 240 <= raw <= 248:
                s = struct.unpack('<Q', struct.pack('<d', struct.unpack('<f', struct.pack('<I', s))[0]))[0]
            else:
                s = s << 32 if raw == 255 else signed(s, 32) & (1 << 64) - 1
        v = [s] * n
    top = 1 << bits - 1
    if mag:
        v = [x & ~top for x in v]
    if neg:
        v = [x ^ top for x in v]
    return ((ctypes.c_uint32 if bits == 32 else ctypes.c_uint64) * n)(*v)


def mask_of(w, reg):
    """A mask of lanes: a register, or two of them for 64."""
    return w.st._read_sgpr(reg) | (w.st._read_sgpr(reg + 1) << 32 if w.st.wave_size == 64 else 0)


def data_of(w, i):
    """acc_data.ll: the registers that an instruction of memory has its data in."""
    return (ctypes.c_uint32 * (256 * w.st.wave_size)).from_address(w.args[5].value) if hasattr(type(i[0]), 'acc') and field(*i, 'acc') else w.st._vgpr_mv


def write(w, reg, values, bits, mv=None):
    mask, mv, n = mask_of(w, emu.EXEC_LO.offset), w.st._vgpr_mv if mv is None else mv, w.st.wave_size
    for i in range(n):
        if mask >> i & 1:
            mv[reg * n + i] = values[i] & M32
            if bits == 64:
                mv[reg * n + n + i] = values[i] >> 32


def division(name, bits):
    def native(m, w, i, pc):
        inst, b = i
        n = m.wave_size
        s = [source(w, inst, b, i, bits) for i in range(3)]
        d = type(s[0])()
        f, csr = getattr(m.c, '%s_f%d' % (name, bits)), w.csr[1 if bits == 32 else 2]
        if name == 'div_scale':
            f.restype = ctypes.c_uint64
            vcc, reg = f(n, *s, d, ctypes.c_uint32(csr)) & mask_of(w, emu.EXEC_LO.offset), field(inst, b, 'sdst')
            if n == 64:
                w.st._write_sgpr(reg, vcc)
                w.st._write_sgpr(reg + 1, vcc >> 32)
            elif reg != 124:  # null
                w.st._write_sgpr(reg, vcc)
        elif name == 'div_fmas':
            f(n, *s, d, ctypes.c_uint64(mask_of(w, emu.VCC_LO.offset)), ctypes.c_uint32(csr))
        else:
            f(n, *s, d, ctypes.c_uint32(csr))
        write(w, field(inst, b, 'vdst'), d, bits)
        after(w, inst, pc)
    return native


def swap64(m, w, i, pc):
    """global_atomic_cmpswap_b64: the new value is in the first two registers, what is compared in the next two."""
    inst, b = i
    t, st, mv, data = type(inst), w.st, w.st._vgpr_mv, data_of(w, i)
    rdna4 = hasattr(t, 'vaddr')
    va, vd = field(inst, b, 'vaddr' if rdna4 else 'addr'), field(inst, b, 'vsrc' if rdna4 else 'data')
    off = getattr(t, 'ioffset' if rdna4 else 'offset')
    off = signed(field(inst, b, 'ioffset' if rdna4 else 'offset'), off.hi - off.lo + 1)
    sa, flat = field(inst, b, 'saddr'), t.__name__.endswith('FLAT')
    back, mask, n = emu._iattr(inst, 'sc0' if hasattr(t, 'sc0') else 'glc'), mask_of(w, emu.EXEC_LO.offset), st.wave_size
    two = lambda r, i, mv=data: mv[r * n + i] | mv[r * n + n + i] << 32
    for i in range(n):
        if not mask >> i & 1:
            continue
        if sa < 124 and not flat:
            at = (st._read_sgpr(sa) | st._read_sgpr(sa + 1) << 32) + mv[va * n + i] + off
        else:
            at = two(va, i, mv) + off
        hi = at >> 32
        if flat and hi in (mends.SHARED, mends.PRIVATE):
            where = w.args[3 if hi == mends.SHARED else 4].value
            at = where + (at & M32) + (0 if hi == mends.SHARED else i * m.l.scratch)
        p = ctypes.c_uint64.from_address(at)
        old = p.value
        if old == two(vd + 2, i):
            p.value = two(vd, i)
        if back:
            r = field(inst, b, 'vdst')
            data[r * n + i], data[r * n + n + i] = old & M32, old >> 32
    after(w, inst, pc)


def bpermute(m, w, i, pc):
    """bpermute_off.ll: the emulator reads by the addresses of lanes that are switched off, too, and dies of it."""
    inst, b = i
    n, mv, mask = m.wave_size, w.st._vgpr_mv, mask_of(w, emu.EXEC_LO.offset)
    at, data, file = field(inst, b, 'addr') * n, field(inst, b, 'data0') * n, data_of(w, i)
    off = field(inst, b, 'offset0') | field(inst, b, 'offset1') << 8
    got = []
    for k in range(n):
        lane = (mv[at + k] + off >> 2) % n
        got.append(file[data + lane] if mask >> lane & 1 else 0)
    write(w, field(inst, b, 'vdst'), got, 32, file)
    after(w, inst, pc)


def part(v, sel, extend):
    """What SDWA takes of a source: a byte, a half, or all of it."""
    if sel == 6:
        return v
    bits, at = (8, sel * 8) if sel < 4 else (16, (sel - 4) * 16)
    v = v >> at & (1 << bits) - 1
    return signed(v, bits) & M32 if extend else v


def sdwa_clamp(m, w, i, pc):
    """sdwa_clamp.ll: v_add_u32 and v_sub_u32 of bytes and halves, to a whole register, with the modifier clamp."""
    inst, b = i
    n, mv, name, f = m.wave_size, w.st._vgpr_mv, emu._op_name(inst), lambda k: field(inst, b, k)
    if f('dst_sel') != 6:
        raise RuntimeError(name + ' clamp to a part of a register')

    def take(which):
        r, scalar = f('vsrc%d' % which), f('s%d' % which)
        return [part(w.st._read_sgpr(r) if scalar else mv[r * n + k], f('src%d_sel' % which), f('src%d_sext' % which)) for k in range(n)]
    a, c = take(0), take(1)
    if 'SUBREV' in name:
        a, c = c, a
    write(w, f('vdst'), [max(x - y, 0) if 'SUB' in name else min(x + y, M32) for x, y in zip(a, c)], 32)
    after(w, inst, pc)


natives = {'S_MEMTIME': memtime, 'S_MEMREALTIME': realtime, 'S_SENDMSG_RTN_B64': realtime, 'DS_BPERMUTE_B32': bpermute, 'S_SETREG_IMM32_B32': set_reg, 'S_SETREG_B32': set_reg, 'S_ROUND_MODE': round_mode, 'S_DENORM_MODE': denorm_mode,
           'GLOBAL_ATOMIC_CMPSWAP_B64': swap64, 'FLAT_ATOMIC_CMPSWAP_B64': swap64, 'GLOBAL_ATOMIC_CMPSWAP_X2': swap64, 'FLAT_ATOMIC_CMPSWAP_X2': swap64}
for _name, _bits in itertools.product(('div_scale', 'div_fmas', 'div_fixup'), (32, 64)):
    for _end in ('', '_E64'):  # as CDNA's are called
        natives['V_%s_F%d%s' % (_name.upper(), _bits, _end)] = division(_name, _bits)
