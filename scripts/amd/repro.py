"""Runs the kernels of testdata/amd on the emulator and compares with what their first lines want.

    repro.py plain|patched gfx1100 [FILE...]

`; want: A B …` are the words of out that must come, hexadecimal, or of in with `; from: in`; `; run: BLOCKS THREADS` the launch, 1 32 unless
told; `; not: gfx1100` a processor on which the emulator has no such fault, `; only: gfx1201` those that have the instruction; `; always` one that is mended in both modes. patched must give
what is wanted; plain is expected not to, and a fault that is gone is said. Needs KUDZU_EMULATOR, and llc and ld.lld of LLVM 19 (KUDZU_LLVM names their folder).
"""
import ctypes, glob, mmap, os, re, struct, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))


def build(llvm, arch, ll, out):
    subprocess.check_call([llvm + 'llc', '-O2', '-mtriple=amdgcn-amd-amdhsa', '-mcpu=' + arch, '-filetype=obj', ll, '-o', out + '.o'])
    subprocess.check_call([llvm + 'ld.lld', '-shared', out + '.o', '-o', out])


def load(blob):
    """The object's segments in memory, and its symbols. There is nothing to relocate."""
    phoff, shoff = struct.unpack_from('<QQ', blob, 0x20)
    phs, phn, shs, shn = struct.unpack_from('<HHHH', blob, 0x36)
    segs = [struct.unpack_from('<IIQQQQQQ', blob, phoff + i * phs) for i in range(phn)]
    segs = [s for s in segs if s[0] == 1]
    m = mmap.mmap(-1, max(s[3] + s[6] for s in segs) + 8192)
    for s in segs:
        m[s[3]:s[3] + s[5]] = blob[s[2]:s[2] + s[5]]
    sections = [struct.unpack_from('<IIQQQQIIQQ', blob, shoff + i * shs) for i in range(shn)]
    names = {}
    for s in sections:
        if s[1] == 11:  # dynamic symbols
            text = sections[s[6]][4]
            for o in range(s[4], s[4] + s[5], 24):
                n, = struct.unpack_from('<I', blob, o)
                names[blob[text + n:blob.index(b'\0', text + n)].decode()], = struct.unpack_from('<Q', blob, o + 8)
    return m, names


def one(mode, arch, file):
    """Executes in this process and prints out; its parent compares, for the emulator may die."""
    sys.path[:0] = [os.environ['KUDZU_EMULATOR'], here]
    os.environ.setdefault('DEV', 'CPU')
    import machine, mends
    mends.base()
    if mode == 'patched':
        mends.patches()
    text = open(file).read()
    launch = re.search(r'^; run: (\d+) (\d+)', text, re.M)
    blocks, threads = (int(launch[1]), int(launch[2])) if launch else (1, 32)
    with tempfile.TemporaryDirectory() as d:
        build(os.environ.get('KUDZU_LLVM', '/usr/lib/llvm-19/bin') + '/', arch, file, d + '/k')
        blob = open(d + '/k', 'rb').read()
    m, names = load(blob)
    base = ctypes.addressof(ctypes.c_char.from_buffer(m))
    n = blocks * threads
    out, inp = (ctypes.c_uint32 * (2 * n + 64))(), (ctypes.c_uint32 * (2 * n + 64))(*range(1000, 1064 + 2 * n))
    args = ctypes.create_string_buffer(struct.pack('<QQIIIHHH', ctypes.addressof(out), ctypes.addressof(inp), blocks, 1, 1, threads, 1, 1) + bytes(300))
    kd = base + names['k.kd']
    kv = {'arch': arch, 'base': hex(base), 'size': str(len(m)), 'kd': hex(kd), 'entry': hex(base + names['k']), 'grid': '%d,1,1' % blocks,
          'block': '%d,1,1' % threads, 'lds': '0', 'kernarg': hex(ctypes.addressof(args)), 'cooperative': '1'}
    l = machine.Launch(kv)
    (machine.Machine().run if mode == 'patched' else machine.plain)(l)
    source = inp if '; from: in' in text else out
    print('out', *('%x' % w for w in source[:len(re.search('^; want: (.*)$', text, re.M)[1].split())]))


def main():
    mode, arch = sys.argv[1:3]
    if mode == 'one':
        return one(sys.argv[2], sys.argv[3], sys.argv[4])
    bad = 0
    for file in sys.argv[3:] or sorted(glob.glob(here + '/../../testdata/amd/*.ll')):
        text, name = open(file).read(), os.path.basename(file)
        only = re.search('^; only: (.*)$', text, re.M)
        if only and arch not in only[1].split():
            continue
        want = [int(w, 16) for w in re.search('^; want: (.*)$', text, re.M)[1].split()]
        others = re.search('^; not: (.*)$', text, re.M)
        not_here = '; always' in text or others is not None and arch in others[1].split()
        p = subprocess.run([sys.executable, os.path.abspath(__file__), 'one', mode, arch, file], capture_output=True, text=True, timeout=300)
        words = next((l.split()[1:] for l in p.stdout.splitlines() if l.startswith('out ')), None)
        right = words is not None and [int(w, 16) for w in words] == want
        got = ' '.join(words) if words else 'exit %d: %s' % (p.returncode, (p.stderr.strip().splitlines() or [''])[-1][:160])
        expected = right if mode == 'patched' or not_here else not right
        bad += not expected
        print('%s %s %s: %s%s' % (name, arch, mode, 'right' if right else 'wrong (%s)' % got, '' if expected else '  <- not expected'), flush=True)
    sys.exit(1 if bad else 0)


main()
