/* Opening and calling foreign libraries; see dl.go. */
#ifndef KZ_DL_H
#define KZ_DL_H
#include <stdint.h>
void *kz_dl_open(const char *path);
const char *kz_dl_error(void);
void *kz_dl_sym(void *handle, const char *name);
const char *kz_dl_file(void *addr);
uint64_t kz_dl_call(void *fn, const uint64_t *a);
uint64_t kz_dl_call32(void *fn, const uint64_t *a);
struct kz_meeting {
    struct kz_meeting *next; /* of those that have arrived */
    uintptr_t handle;        /* Go's name for it */
    int released;
};
void kz_dl_meet(void *data);
uintptr_t kz_dl_next_arrival(void);
void kz_dl_release(struct kz_meeting *m);
void kz_dl_ignore(void);
void kz_dl_meet3(void *stream, uint64_t status, void *data);
#endif
