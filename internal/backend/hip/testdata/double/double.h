/* A double of libamdhip64 for tests: HIP's runtime without a GPU. Memory is one shared mapping, streams are threads, code
   objects are read and checked as ROCm's loader does, argument blocks are laid out by their metadata, and kernels are run by
   whoever listens on the runner's socket (internal/testkit/hipdouble has the protocol). What a caller does wrong is an error, more strictly
   than HIP: the double exists to find our mistakes. */
#ifndef KZ_DOUBLE_H
#define KZ_DOUBLE_H
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200,
    NO_BINARY = 209, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, LAUNCH_FAILURE = 719,
    ALREADY_REGISTERED = 712, NOT_REGISTERED = 713, NOT_SUPPORTED = 801,
};

#define MAX_DEVICES 8
#define MAX_ARGS 64

struct device {
    char arch[64];
    uint64_t total, used;
    int error; /* sticky */
};

extern pthread_mutex_t lock; /* guards everything that is not said to be a stream's own */
extern pthread_cond_t moved; /* something was done */
extern struct device devices[MAX_DEVICES];
extern int device_count;
extern _Thread_local int current;
extern long live[4]; /* allocations, streams, events, modules */
enum { INVALID_CONTEXT = 201 };
enum { LIVE_MEMORY, LIVE_STREAMS, LIVE_EVENTS, LIVE_MODULES };

/* memory.c */
extern char *arena;
int arena_open(void);
void *arena_alloc(size_t n, int dev, int host);
int arena_free(void *p, int host);
void arena_manage(void *p);
int arena_managed(const void *p, size_t n); /* a range of one allocation of managed memory */
int arena_check(const void *p, size_t n); /* a range of the arena that is not inside an allocation is refused */
int arena_range(const void *p, char **base, size_t *n);
extern int arena_fd;
int fail(int r);
int bad_device(int d);

/* virtual.c: memory at addresses that were reserved, and memory of other processes */
int mapped_check(const char *p, size_t n); /* 1: inside a mapping that the current device may touch; 0: in a reservation, and not so; -1: neither */
int mapped_find(uint64_t at, uint64_t *base, uint64_t *size);

/* object.c */
struct arg {
    uint32_t offset, size;
    char kind[40];
};
struct function {
    struct module *module;
    struct function *next;
    char name[512];
    uint64_t kd;   /* address of the descriptor */
    uint32_t kernarg, group, private_, args, vgprs, wave;
    struct arg arg[MAX_ARGS];
};
struct module {
    uint32_t magic;
    int dev;
    char *base;
    size_t size;
    struct function *functions;
    int pending; /* launches that are not done */
};
#define MODULE_MAGIC 0x4d4f4455u
int object_load(const void *image, int dev, struct module **out);
void object_free(struct module *m);

/* launch.c */
struct launch {
    struct function *fn;
    uint32_t grid[3], block[3], shared, cooperative;
    char *kernarg;
};
int launch_prepare(struct launch *l, const char *block, size_t n);
int launch_run(struct launch *l);
#endif
