"""Runs the launches of the double of libamdhip64 on an emulator of AMD's instructions (docs/amd.md, "On an emulator").

    runner.py SOCKET ARENA plain|patched [LOG]

KUDZU_EMULATOR names the folder that scripts/amd/get.sh made. plain is the emulator as it is, but for what nothing runs without
(mends.base); patched has its known faults mended. Each launch may take KUDZU_EMULATOR_SECONDS, 600 unless told. The emulator runs in
another process, so that one that dies, or goes on for ever, is an answer of its own to the launch: 719 cannot run, 700 died, 702 too slow.
"""
import ctypes, os, select, socket, subprocess, sys, threading, time, traceback

ARENA = 4 << 30


def worker(arena, mode):
    out = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # the emulator prints
    sys.path[:0] = [os.environ['KUDZU_EMULATOR'], os.path.dirname(os.path.abspath(__file__))]
    os.environ.setdefault('DEV', 'CPU')
    import machine, mends
    mends.base()
    run = machine.plain
    if mode == 'patched':
        mends.patches()
        run = machine.Machine().run
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(1, 9)  # dies with who started it, even in the middle of a launch
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    mapped = set()

    def place(at):
        fd = os.open(arena, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(fd, ARENA)
        if libc.mmap(at, ARENA, 3, 0x100000 | 0x4000 | 1, fd, 0) != at:  # read and write; FIXED_NOREPLACE, NORESERVE, SHARED
            raise OSError('the arena does not fit at %#x' % at)
        os.close(fd)
        mapped.add(at)

    print('ready', file=out, flush=True)
    for line in sys.stdin:
        kv = dict(w.split('=', 1) for w in line.split()[1:])
        try:
            at = int(kv['arena'], 0)
            if at not in mapped:
                place(at)
            run(machine.Launch(kv))
            answer = 'ok'
        except Exception as e:
            answer = 'error 719'
            print('%s: %r\n%s' % (kv.get('kernel'), str(e)[:300], traceback.format_exc()[-900:]), file=sys.stderr, flush=True)
        print(answer, file=out, flush=True)


class Emulator:
    """The process that executes, started again when it is gone."""
    def __init__(self, arena, mode, log):
        self.command, self.log, self.p = [sys.executable, os.path.abspath(__file__), 'worker', arena, mode], log, None
        self.seconds = int(os.environ.get('KUDZU_EMULATOR_SECONDS', '600'))
        self.lock = threading.Lock()

    def ask(self, line):
        with self.lock:
            start = time.time()
            answer = self.tell(line)
            word = dict(w.split('=', 1) for w in line.split()[1:])
            print('%s %s <<<%s, %s>>> %s %.2fs' % (word.get('kernel'), word.get('arch'), word.get('grid'), word.get('block'), answer, time.time() - start), file=self.log, flush=True)
            return answer

    def tell(self, line):
        if self.p is None or self.p.poll() is not None:
            self.p = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
            self.p.stdout.readline()
        try:
            self.p.stdin.write(line + '\n')
            self.p.stdin.flush()
        except OSError:
            return 'error 700'
        if not select.select([self.p.stdout], [], [], self.seconds)[0]:
            self.p.kill()
            self.p.wait()
            return 'error 702'
        answer = self.p.stdout.readline().strip()
        if answer:
            return answer
        self.p.wait()
        return 'error 700'


def serve(conn, emulator):
    f = conn.makefile('rwb')
    for line in f:
        f.write((emulator.ask(line.decode().strip()) + '\n').encode())
        f.flush()


def main():
    if sys.argv[1] == 'worker':
        return worker(*sys.argv[2:4])
    path, arena, mode = sys.argv[1:4]
    if mode not in ('plain', 'patched'):
        sys.exit('plain or patched')
    emulator = Emulator(arena, mode, open(sys.argv[4], 'a') if len(sys.argv) > 4 else sys.stderr)
    if os.path.exists(path):
        os.unlink(path)
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(8)
    print('ready', flush=True)
    while True:
        conn, _ = s.accept()
        threading.Thread(target=serve, args=(conn, emulator), daemon=True).start()


if __name__ == '__main__':
    main()
