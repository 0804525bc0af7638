/* Accesses outside shared and local memory. One line a probe: where, how, the distance, and what cuCtxSynchronize answers. Every probe
 * that faults ends its process, for a real driver's context does not come back; a child goes on behind it. Recorded on real hardware in
 * outside.want. Arguments: the number of children at a time, and a word that rows to run contain. */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB ((int64_t)1 << 20)
#define GB ((int64_t)1 << 30)

/* Where a probe aims: the variable, its size, and the steps from its address in register %a (32 or 64 bits) to the operand. */
struct place {
    const char *name, *space, *declare, *body, *operand;
    int size, dynamic, wide, cluster;
};

#define SHARED64 ".shared .align 16 .b8 v[64];"
#define SHARED48K ".shared .align 16 .b8 v[49152];"
#define LOCAL64 ".local .align 16 .b8 v[64];"
#define EXTERN ".extern .shared .align 16 .b8 v[];\n"
#define ADD32 "mov.u32 %a, v; add.u32 %a, %a, %o;"
#define ADD64 "mov.u64 %b, v; add.u64 %b, %b, %q;"

static const struct place places[] = {
    {"shared", ".shared", SHARED64, ADD32, "%a", 64, 0, 0, 0},
    {"local", ".local", LOCAL64, ADD32, "%a", 64, 0, 0, 0},
    {"generic-shared", "", SHARED64, "cvta.shared.u64 %b, v; add.u64 %b, %b, %q;", "%b", 64, 0, 1, 0},
    {"generic-local", "", LOCAL64, "cvta.local.u64 %b, v; add.u64 %b, %b, %q;", "%b", 64, 0, 1, 0},
    {"dynamic-1K", ".shared", EXTERN, ADD32, "%a", 1024, 1024, 0, 0},
    {"dynamic-64K", ".shared", EXTERN, ADD32, "%a", 65536, 65536, 0, 0},
    {"static-48K", ".shared", SHARED48K, ADD32, "%a", 49152, 0, 0, 0},
    {"shared-r64", ".shared", SHARED64, ADD64, "%b", 64, 0, 1, 0},
    {"local-r64", ".local", LOCAL64, ADD64, "%b", 64, 0, 1, 0},
    {"shared-plus", ".shared", SHARED64, ADD32 "sub.u32 %a, %a, 0x10000;", "%a+0x10000", 64, 0, 0, 0},
    {"shared-minus", ".shared", SHARED64, ADD32 "add.u32 %a, %a, 0x10000;", "%a-0x10000", 64, 0, 0, 0},
    {"local-minus", ".local", LOCAL64, ADD32 "add.u32 %a, %a, 0x10000;", "%a-0x10000", 64, 0, 0, 0},
    {"cluster-own", ".shared::cluster", SHARED64, "mov.u32 %a, v; mapa.shared::cluster.u32 %a, %a, 0; add.u32 %a, %a, %o;", "%a", 64, 0, 0, 2},
    {"cluster-other", ".shared::cluster", SHARED64, "mov.u32 %a, v; mapa.shared::cluster.u32 %a, %a, 1; add.u32 %a, %a, %o;", "%a", 64, 0, 0, 2},
    {"rank", ".shared::cluster", SHARED64, "mov.u32 %a, v; mapa.shared::cluster.u32 %a, %a, %o;", "%a", 64, 0, 0, 2},
    {"rank-alone", ".shared::cluster", SHARED64, "mov.u32 %a, v; mapa.shared::cluster.u32 %a, %a, %o;", "%a", 64, 0, 0, 0},
};

/* How it is accessed: S is the space, A the operand. */
struct op {
    const char *name, *text;
    int threads;
};

#define BULK                                                                                                                                \
    "mov.u32 %m, bar; mbarrier.init.shared.b64 [%m], 1; mbarrier.arrive.expect_tx.shared.b64 %w, [%m], 16; fence.proxy.async;"              \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [A], [%p], 16, [%m]; mov.u32 %n, 0;"                                 \
    "L: mbarrier.try_wait.parity.shared.b64 %t, [%m], 0; @%t bra D; add.u32 %n, %n, 1; setp.lt.u32 %t, %n, 10000; @%t bra L; D: mov.u32 %r, 0;"

static const struct op ops[] = {
    {"ld", "ldS.u32 %r, [A];", 1},
    {"st", "stS.u32 [A], %r;", 1},
    {"atom", "atomS.add.u32 %r, [A], 1;", 1},
    {"red", "redS.add.u32 [A], 1;", 1},
    {"cas", "atomS.cas.b64 %w, [A], %w, 1;", 1},
    {"ld.v4", "ldS.v4.u32 {%r, %x, %y, %z}, [A];", 1},
    {"st.v4", "stS.v4.u32 [A], {%r, %x, %y, %z};", 1},
    {"ld.u8", "ldS.u8 %r, [A];", 1},
    {"st.warp", "stS.u32 [A], %r;", 32},
    {"ldmatrix", "ldmatrix.sync.aligned.m8n8.x1S.b16 {%r}, [A];", 32},
    {"stmatrix", "stmatrix.sync.aligned.m8n8.x1S.b16 [A], {%r};", 32},
    {"cp.async-4", "cp.async.caS.global [A], [%p], 4; cp.async.wait_all;", 1},
    {"cp.async-16", "cp.async.cgS.global [A], [%p], 16; cp.async.wait_all;", 1},
    {"mbarrier.init", "mbarrier.initS.b64 [A], 1;", 1},
    {"bulk", BULK, 1},
};

/* Distances: from the variable's start, or, with FROM_END, from its end. */
struct step {
    const char *name;
    int64_t n;
    int from_end;
};

static const struct step fine[] = {
    {"last", -16, 1}, {"end", 0, 1}, {"end+0x1f0", 0x1f0, 1}, {"end+0x200", 0x200, 1}, {"end+0x3f0", 0x3f0, 1}, {"end+0x400", 0x400, 1},
    {"end+0x800", 0x800, 1}, {"end+0x1000", 0x1000, 1}, {"64K", 64 << 10, 0}, {"227K", 227 << 10, 0}, {"256K", 256 << 10, 0}, {"1M", MB, 0},
    {"8M-0x1000", 8 * MB - 0x1000, 0}, {"8M", 8 * MB, 0}, {"12M", 12 * MB, 0}, {"16M-0x1000", 16 * MB - 0x1000, 0}, {"16M-16", 16 * MB - 16, 0}, {"16M", 16 * MB, 0},
    {"32M", 32 * MB, 0}, {"1G", GB, 0}, {"2G", 2 * GB, 0}, {"4G-16M", 4 * GB - 16 * MB, 0}, {"4G-0x1000", 4 * GB - 0x1000, 0}, {"4G-16", 4 * GB - 16, 0}, {0, 0, 0}};
static const struct step wide[] = {
    {"last", -16, 1}, {"end", 0, 1}, {"end+0x1f0", 0x1f0, 1}, {"end+0x200", 0x200, 1}, {"end+0x400", 0x400, 1}, {"64K", 64 << 10, 0}, {"227K", 227 << 10, 0}, {"1M", MB, 0},
    {"8M-0x1000", 8 * MB - 0x1000, 0}, {"8M", 8 * MB, 0}, {"16M-0x1000", 16 * MB - 0x1000, 0}, {"16M", 16 * MB, 0}, {"32M", 32 * MB, 0}, {"1G", GB, 0}, {"4G-16", 4 * GB - 16, 0}, {"4G", 4 * GB, 0},
    {"4G+16M", 4 * GB + 16 * MB, 0}, {"256G", 256 * GB, 0}, {"1<<62", (int64_t)1 << 62, 0}, {"-16", -16, 0}, {"-0x1000", -0x1000, 0}, {"-16M", -16 * MB, 0}, {"-1G", -GB, 0}, {0, 0, 0}};
static const struct step rough[] = {
    {"last", -16, 1}, {"end+0x1f0", 0x1f0, 1}, {"end+0x200", 0x200, 1}, {"1M", MB, 0}, {"8M", 8 * MB, 0}, {"16M-0x1000", 16 * MB - 0x1000, 0}, {"16M", 16 * MB, 0}, {"1G", GB, 0},
    {"4G-0x1000", 4 * GB - 0x1000, 0}, {0, 0, 0}};
static const struct step ranks[] = {{"0", 0, 0}, {"1", 1, 0}, {"2", 2, 0}, {"7", 7, 0}, {"15", 15, 0}, {"16", 16, 0}, {"255", 255, 0}, {0, 0, 0}};

struct row {
    const char *place, *ops;
    const struct step *steps;
};

static const struct row rows[] = {
    {"shared", "ld st atom", fine},
    {"local", "ld st", fine},
    {"generic-shared", "ld st atom", wide},
    {"generic-local", "ld st atom", wide},
    {"shared-r64", "ld st", wide},
    {"local-r64", "ld st", wide},
    {"shared", "red cas ld.v4 st.v4 ld.u8 st.warp ldmatrix stmatrix cp.async-4 cp.async-16 mbarrier.init bulk", rough},
    {"local", "ld.v4 st.v4 ld.u8 st.warp", rough},
    {"generic-shared", "red ld.v4", rough},
    {"generic-local", "red ld.v4", rough},
    {"dynamic-1K", "ld st atom", rough},
    {"dynamic-64K", "ld st atom", rough},
    {"static-48K", "ld st atom", rough},
    {"shared-plus", "ld st", rough},
    {"shared-minus", "ld st", rough},
    {"local-minus", "ld st", rough},
    {"cluster-own", "ld st", rough},
    {"cluster-other", "ld st atom", rough},
    {"rank", "ld st", ranks},
    {"rank-alone", "ld st", ranks},
};

enum { MOST = 64, STEPS = 32 };

struct chain {
    const struct place *at;
    const struct op *how;
    const struct step *steps;
    int *codes, next, out;
    pid_t child;
};

static const struct place *place_named(const char *name) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strcmp(places[i].name, name)) return &places[i];
    abort();
}

static const struct op *op_named(const char *name) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].name, name)) return &ops[i];
    abort();
}

/* Copies an operation's text, with the space for S and the operand for A. A capital that is neither stands for itself. */
static char *spell(char *to, const char *text, const struct place *at) {
    for (; *text; text++) {
        const char *put = 0;
        if (*text == 'S') put = at->space;
        if (*text == 'A' && text[-1] == '[') put = at->operand;
        if (put) to += sprintf(to, "%s", put);
        else *to++ = *text;
    }
    *to = 0;
    return to;
}

static void module(char *to, const struct place *at, const struct op *how) {
    int outer = at->dynamic != 0;
    to += sprintf(to, ".version 8.0\n.target sm_90\n.address_size 64\n%s.visible .entry k(.param .u64 p, .param .u64 q)%s\n{\n%s\n.shared .align 8 .b64 bar;\n", outer ? at->declare : "",
                  at->cluster ? " .explicitcluster .reqnctapercluster 2, 1, 1" : "", outer ? "" : at->declare);
    to += sprintf(to, ".reg .b64 %%p, %%q, %%b, %%w; .reg .b32 %%a, %%o, %%r, %%x, %%y, %%z, %%m, %%n; .reg .pred %%t;\n"
                      "ld.param.u64 %%p, [p]; ld.param.u64 %%q, [q]; cvt.u32.u64 %%o, %%q; cvta.to.global.u64 %%p, %%p; ld.global.u32 %%r, [%%p];\n"
                      "mov.u32 %%x, %%r; mov.u32 %%y, %%r; mov.u32 %%z, %%r; mov.u64 %%w, 0;\n%s\n", at->body);
    to = spell(to, how->text, at);
    sprintf(to, "\ncvt.u32.u64 %%x, %%w; add.u32 %%r, %%r, %%x; st.global.u32 [%%p], %%r;%s\nret;\n}\n", at->cluster ? " barrier.cluster.arrive; barrier.cluster.wait;" : "");
}

static int set_up(const struct chain *c, CUfunction *f, CUdeviceptr *p) {
    static char text[8192];
    CUdevice d;
    CUcontext x;
    CUmodule m;
    int e;
    module(text, c->at, c->how);
    if ((e = cuInit(0)) || (e = cuDeviceGet(&d, 0)) || (e = cuDevicePrimaryCtxRetain(&x, d)) || (e = cuCtxSetCurrent(x))) return e;
    if ((e = cuModuleLoadData(&m, text))) {
        if (getenv("SHOW_TEXT")) fputs(text, stderr);
        return e;
    }
    if ((e = cuModuleGetFunction(f, m, "k")) || (e = cuMemAlloc(p, 4096)) || (e = cuMemsetD8(*p, 0, 4096))) return e;
    if (c->at->dynamic && (e = cuFuncSetAttribute(*f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, c->at->dynamic))) return e;
    return 0;
}

/* Runs a chain's probes from `next` on until one fails. */
static void run(struct chain *c) {
    CUfunction f;
    CUdeviceptr p;
    int e = set_up(c, &f, &p), n = c->next;
    if (e) {
        c->codes[n] = 10000 + e;
        _exit(1);
    }
    alarm(30);
    for (; c->steps[n].name; n++) {
        uint64_t q = (uint64_t)c->steps[n].n + (c->steps[n].from_end ? c->at->size : 0);
        void *args[] = {&p, &q};
        e = cuLaunchKernel(f, c->at->cluster ? 2 : 1, 1, 1, c->how->threads, 1, 1, c->at->dynamic, 0, args, 0);
        if (e) e += 20000;
        else e = cuCtxSynchronize();
        c->codes[n] = e;
        if (e) _exit(1);
    }
    _exit(0);
}

static int start(struct chain *c) {
    while (c->steps[c->next].name && c->codes[c->next] >= 0) c->next++;
    if (!c->steps[c->next].name) return 0;
    fflush(stdout);
    if ((c->child = fork()) == 0) run(c);
    return 1;
}

static void finish(struct chain *c) {
    for (int i = 0; c->steps[i].name; i++) printf("%s %s %s %d\n", c->at->name, c->how->name, c->steps[i].name, c->codes[i]);
    fflush(stdout);
}

static int collect(struct chain *cs, const char *word) {
    int n = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char names[256], *rest = names, *name;
        snprintf(names, sizeof names, "%s", rows[i].ops);
        while ((name = strsep(&rest, " "))) {
            char title[128];
            snprintf(title, sizeof title, "%s %s", rows[i].place, name);
            if (!strstr(title, word)) continue;
            if (n == MOST) abort();
            cs[n] = (struct chain){.at = place_named(rows[i].place), .how = op_named(name), .steps = rows[i].steps};
            cs[n].codes = mmap(0, STEPS * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
            for (int k = 0; k < STEPS; k++) cs[n].codes[k] = -1;
            n++;
        }
    }
    return n;
}

/* A child ended: a probe without a code ended it by a signal. */
static void ended(struct chain *c, int status) {
    int at = c->next;
    while (c->steps[at].name && c->codes[at] == 0) at++;
    if (c->steps[at].name && c->codes[at] < 0) c->codes[at] = WIFSIGNALED(status) ? 30000 + WTERMSIG(status) : 40000;
    c->child = 0;
}

int main(int argc, char **argv) {
    static struct chain cs[MOST];
    int width = argc > 1 ? atoi(argv[1]) : 4, n = collect(cs, argc > 2 ? argv[2] : ""), first = 0, busy = 0;
    while (first < n || busy) {
        while (first < n && busy < width) busy += start(&cs[first++]);
        int status;
        pid_t who = wait(&status);
        for (int i = 0; i < first; i++) {
            if (cs[i].child != who) continue;
            ended(&cs[i], status);
            if (!start(&cs[i])) {
                finish(&cs[i]);
                busy--;
            }
        }
    }
    return 0;
}
