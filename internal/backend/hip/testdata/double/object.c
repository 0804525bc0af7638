/* Reading a code object as ROCm's loader and HIP do: ELF header, segments, relocations, dynamic symbols, metadata. */
#define _GNU_SOURCE
#include "double.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* The metadata's MessagePack. A reader that has failed stays at its end. */
struct pack {
    const uint8_t *p, *end;
    int bad;
};

static uint64_t be(struct pack *k, int n) {
    uint64_t v = 0;
    if (k->end - k->p < n) k->bad = 1, k->p = k->end;
    else
        while (n--) v = v << 8 | *k->p++;
    return v;
}

/* kinds: 'm'ap and 'a'rray with their length, 's'tring with its, 'i'nteger, 'o'ther */
static int next(struct pack *k, uint64_t *n) {
    uint8_t t = be(k, 1);
    if (t < 0x80 || t >= 0xe0) return *n = t, 'i';
    if (t < 0x90) return *n = t & 15, 'm';
    if (t < 0xa0) return *n = t & 15, 'a';
    if (t < 0xc0) return *n = t & 31, 's';
    switch (t) {
    case 0xc0: case 0xc2: case 0xc3: return *n = t == 0xc3, 'o';
    case 0xcc: case 0xcd: case 0xce: case 0xcf: return *n = be(k, 1 << (t - 0xcc)), 'i';
    case 0xd0: case 0xd1: case 0xd2: case 0xd3: return *n = be(k, 1 << (t - 0xd0)), 'i';
    case 0xd9: case 0xda: case 0xdb: return *n = be(k, 1 << (t - 0xd9)), 's';
    case 0xdc: case 0xdd: return *n = be(k, 2 << (t - 0xdc)), 'a';
    case 0xde: case 0xdf: return *n = be(k, 2 << (t - 0xde)), 'm';
    }
    k->bad = 1;
    return 'o';
}

static void skip(struct pack *k, int depth) {
    uint64_t n;
    int t = next(k, &n);
    if (depth > 16) k->bad = 1;
    if (t == 's') {
        if ((uint64_t)(k->end - k->p) < n) k->bad = 1;
        else k->p += n;
    }
    for (uint64_t i = 0; (t == 'a' || t == 'm') && !k->bad && i < n * (t == 'm' ? 2 : 1); i++) skip(k, depth + 1);
}

static void text(struct pack *k, char *to, size_t room) {
    uint64_t n;
    if (next(k, &n) != 's' || (uint64_t)(k->end - k->p) < n || n >= room) {
        k->bad = 1;
        return;
    }
    memcpy(to, k->p, n);
    to[n] = 0;
    k->p += n;
}

static uint32_t number(struct pack *k) {
    uint64_t n = 0;
    if (next(k, &n) != 'i' || n > UINT32_MAX) k->bad = 1;
    return (uint32_t)n;
}

static uint64_t count(struct pack *k, int want) {
    uint64_t n = 0;
    if (next(k, &n) != want) k->bad = 1;
    return k->bad ? 0 : n;
}

static void read_args(struct pack *k, struct function *f) {
    uint64_t n = count(k, 'a');
    if (n > MAX_ARGS) k->bad = 1;
    for (uint64_t i = 0; !k->bad && i < n; i++) {
        struct arg *a = &f->arg[f->args++];
        for (uint64_t j = count(k, 'm'); !k->bad && j > 0; j--) {
            char key[64];
            text(k, key, sizeof key);
            if (!strcmp(key, ".offset")) a->offset = number(k);
            else if (!strcmp(key, ".size")) a->size = number(k);
            else if (!strcmp(key, ".value_kind")) text(k, a->kind, sizeof a->kind);
            else skip(k, 0);
        }
    }
}

static struct function *read_kernel(struct pack *k, char *symbol) {
    struct function *f = calloc(1, sizeof *f);
    *symbol = 0;
    for (uint64_t j = count(k, 'm'); !k->bad && j > 0; j--) {
        char key[64];
        text(k, key, sizeof key);
        if (!strcmp(key, ".name")) text(k, f->name, sizeof f->name);
        else if (!strcmp(key, ".symbol")) text(k, symbol, 520);
        else if (!strcmp(key, ".args")) read_args(k, f);
        else if (!strcmp(key, ".kernarg_segment_size")) f->kernarg = number(k);
        else if (!strcmp(key, ".group_segment_fixed_size")) f->group = number(k);
        else if (!strcmp(key, ".private_segment_fixed_size")) f->private_ = number(k);
        else if (!strcmp(key, ".vgpr_count")) f->vgprs = number(k);
        else if (!strcmp(key, ".wavefront_size")) f->wave = number(k);
        else skip(k, 0);
    }
    if (!f->name[0] || !*symbol) k->bad = 1;
    return f;
}

struct elf {
    const char *b;
    const Elf64_Ehdr *e;
    const Elf64_Phdr *ph;
    const Elf64_Sym *syms;
    const char *strs;
    size_t nsyms, span;
};

/* The image comes without a length: the section headers are its end, as HIP takes it. */
static int open_elf(struct elf *x, const void *image) {
    x->b = image;
    x->e = image;
    if (memcmp(x->b, ELFMAG, SELFMAG) || x->e->e_ident[EI_CLASS] != ELFCLASS64 || x->e->e_machine != 224 || x->e->e_ident[EI_OSABI] != 64 ||
        x->e->e_type != ET_DYN || x->e->e_phentsize != sizeof(Elf64_Phdr) || x->e->e_shentsize != sizeof(Elf64_Shdr))
        return INVALID_IMAGE;
    if (x->e->e_ident[EI_ABIVERSION] < 1 || x->e->e_ident[EI_ABIVERSION] > 4) return INVALID_IMAGE;
    size_t end = x->e->e_shoff + (size_t)x->e->e_shnum * sizeof(Elf64_Shdr);
    x->ph = (const void *)(x->b + x->e->e_phoff);
    uint64_t last = 0;
    int exec = 0;
    for (int i = 0; i < x->e->e_phnum; i++) {
        const Elf64_Phdr *p = &x->ph[i];
        if (p->p_type != PT_LOAD) continue;
        if (p->p_offset + p->p_filesz > end || p->p_filesz > p->p_memsz || p->p_vaddr < last || p->p_offset % 4096 != p->p_vaddr % 4096) return INVALID_IMAGE;
        last = x->span = p->p_vaddr + p->p_memsz;
        exec |= p->p_flags & PF_X;
    }
    const Elf64_Shdr *sh = (const void *)(x->b + x->e->e_shoff);
    for (int i = 0; i < x->e->e_shnum; i++) {
        if (sh[i].sh_type != SHT_NOBITS && sh[i].sh_offset + sh[i].sh_size > end) return INVALID_IMAGE;
        if (sh[i].sh_type == SHT_DYNSYM) {
            x->syms = (const void *)(x->b + sh[i].sh_offset);
            x->nsyms = sh[i].sh_size / sizeof(Elf64_Sym);
            x->strs = x->b + sh[sh[i].sh_link].sh_offset;
        }
    }
    return x->syms && exec ? OK : INVALID_IMAGE;
}

static const Elf64_Sym *find(struct elf *x, const char *name) {
    for (size_t i = 1; i < x->nsyms; i++)
        if (!strcmp(x->strs + x->syms[i].st_name, name)) return &x->syms[i];
    return NULL;
}

/* What has no value when it is loaded is an error: nothing could give it one. */
static int relocate(struct elf *x, char *base) {
    for (size_t i = 1; i < x->nsyms; i++)
        if (x->syms[i].st_shndx == SHN_UNDEF) return INVALID_IMAGE;
    const Elf64_Shdr *sh = (const void *)(x->b + x->e->e_shoff);
    for (int i = 0; i < x->e->e_shnum; i++) {
        if (sh[i].sh_type != SHT_RELA || !(sh[i].sh_flags & SHF_ALLOC)) continue;
        const Elf64_Rela *r = (const void *)(x->b + sh[i].sh_offset);
        for (size_t n = sh[i].sh_size / sizeof *r; n--; r++) {
            if (ELF64_R_TYPE(r->r_info) != 13 || r->r_offset + 8 > x->span) return INVALID_IMAGE; /* R_AMDGPU_RELATIVE64 */
            uint64_t v = (uint64_t)base + r->r_addend;
            memcpy(base + r->r_offset, &v, 8);
        }
    }
    return OK;
}

/* The processor numbers that the double's devices may have. */
static const struct { const char *name; unsigned mach; } machs[] = {
    {"gfx906", 0x2f}, {"gfx908", 0x30}, {"gfx90a", 0x3f}, {"gfx942", 0x4c}, {"gfx1010", 0x33}, {"gfx1030", 0x36}, {"gfx1100", 0x41}, {"gfx1101", 0x46},
    {"gfx1102", 0x47}, {"gfx1103", 0x44}, {"gfx1150", 0x43}, {"gfx1200", 0x48}, {"gfx1201", 0x4e},
};

static int runs(const struct elf *x, const char *arch) {
    size_t n = strcspn(arch, ":");
    for (size_t i = 0; i < sizeof machs / sizeof *machs; i++)
        if (strlen(machs[i].name) == n && !strncmp(machs[i].name, arch, n)) {
            unsigned xnack = x->e->e_flags >> 8 & 3;
            if (xnack == 3 && strstr(arch, "xnack-")) return 0;
            if (xnack == 2 && strstr(arch, "xnack+")) return 0;
            return (x->e->e_flags & 0xff) == machs[i].mach;
        }
    return 0;
}

/* The descriptor and the metadata are two accounts of one kernel. */
static int add_kernel(struct elf *x, struct module *m, struct function *f, const char *symbol) {
    const Elf64_Sym *kd = find(x, symbol), *code = find(x, f->name);
    f->module = m;
    f->next = m->functions;
    m->functions = f;
    if (!kd || !code || kd->st_size != 64 || kd->st_value % 64 || ELF64_ST_TYPE(kd->st_info) != STT_OBJECT || kd->st_value + 64 > x->span) return INVALID_IMAGE;
    f->kd = (uint64_t)m->base + kd->st_value;
    const char *d = m->base + kd->st_value;
    uint32_t group, private_, kernarg;
    int64_t entry;
    memcpy(&group, d, 4);
    memcpy(&private_, d + 4, 4);
    memcpy(&kernarg, d + 8, 4);
    memcpy(&entry, d + 16, 8);
    if (group != f->group || private_ != f->private_ || kernarg != f->kernarg || kd->st_value + entry != code->st_value || code->st_value % 256) return INVALID_IMAGE;
    for (uint32_t i = 0; i < f->args; i++)
        if (f->arg[i].offset + f->arg[i].size > f->kernarg || (i && f->arg[i].offset < f->arg[i - 1].offset + f->arg[i - 1].size)) return INVALID_IMAGE;
    return OK;
}

static int read_metadata(struct elf *x, struct module *m) {
    for (int i = 0; i < x->e->e_phnum; i++) {
        const Elf64_Phdr *p = &x->ph[i];
        const Elf64_Nhdr *h = (const void *)(x->b + p->p_offset);
        if (p->p_type != PT_NOTE || p->p_filesz < sizeof *h || h->n_type != 32 || h->n_namesz != 7 || memcmp(h + 1, "AMDGPU", 7)) continue;
        const uint8_t *d = (const uint8_t *)(h + 1) + 8;
        if ((const char *)d + h->n_descsz > x->b + p->p_offset + p->p_filesz) return INVALID_IMAGE;
        struct pack k = {d, d + h->n_descsz, 0};
        for (uint64_t n = count(&k, 'm'); !k.bad && n > 0; n--) {
            char key[64], symbol[520];
            text(&k, key, sizeof key);
            if (strcmp(key, "amdhsa.kernels")) {
                skip(&k, 0);
                continue;
            }
            for (uint64_t c = count(&k, 'a'); !k.bad && c > 0; c--) {
                struct function *f = read_kernel(&k, symbol);
                int r = k.bad ? INVALID_IMAGE : add_kernel(x, m, f, symbol);
                if (r != OK) return r;
            }
        }
        return k.bad ? INVALID_IMAGE : OK;
    }
    return INVALID_IMAGE;
}

int object_load(const void *image, int dev, struct module **out) {
    struct elf x = {0};
    int r = open_elf(&x, image);
    if (r != OK) return r;
    if (!runs(&x, devices[dev].arch)) return NO_BINARY;
    struct module *m = calloc(1, sizeof *m);
    m->magic = MODULE_MAGIC;
    m->dev = dev;
    m->size = x.span;
    if (!(m->base = arena_alloc(x.span, dev, 1))) {
        free(m);
        return OUT_OF_MEMORY;
    }
    memset(m->base, 0, x.span);
    for (int i = 0; i < x.e->e_phnum; i++)
        if (x.ph[i].p_type == PT_LOAD) memcpy(m->base + x.ph[i].p_vaddr, x.b + x.ph[i].p_offset, x.ph[i].p_filesz);
    if ((r = relocate(&x, m->base)) != OK || (r = read_metadata(&x, m)) != OK) {
        object_free(m);
        return r;
    }
    live[LIVE_MODULES]++;
    live[LIVE_MEMORY]--; /* code is not the program's memory */
    *out = m;
    return OK;
}

/* What names it stays, so that its use afterwards is found. */
void object_free(struct module *m) {
    arena_free(m->base, 1);
    m->magic = 0;
}
