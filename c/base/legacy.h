// cuBLAS's first interface, without handles: one handle of the process, letters for modes, scalars by value, and the status of the last call kept.
#ifndef KZ_LEGACY_H
#define KZ_LEGACY_H

#include "base.h"

struct kz_c32 {
	float x, y;
};
struct __attribute__((aligned(16))) kz_c64 {
	double x, y;
};

// The numbers of letters, in either case; -1 for any other.
int kz_trans(char c);
int kz_uplo(char c);
int kz_side(char c);
int kz_diag(char c);

// kz_legacy_call is today's function of a slot and the handle for it, or NULL when there is none, which is noted.
void *kz_legacy_call(uint32_t slot, void **handle);

// kz_legacy_note keeps a status for cublasGetError.
void kz_legacy_note(int code);

// kz_legacy_refuse notes that a letter is none.
void kz_legacy_refuse(void);

#endif
