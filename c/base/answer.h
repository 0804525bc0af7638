// What NVRTC answered to a request before, in the folder of internal/cache: written by internal/shim/nvrtc, read by C.
#ifndef KZ_ANSWER_H
#define KZ_ANSWER_H

#include "blake3.h"

#include <stdint.h>

struct kz_text {
	const char *at;
	uint64_t bytes;
};

// kz_answer is a compilation that succeeded, or one of which only code and log count, for a header was missing. Texts lie in bytes.
struct kz_answer {
	int code; // of nvrtcCompileProgram
	struct kz_answer *before; // of the same program: what was given of it stays until the program is destroyed
	struct kz_text log, ptx, cubin, lto;
	struct kz_text *names; // one for each expression, with a NUL, empty where there is none
	uint64_t count;
	char *bytes;
};

// kz_request is all that an answer depends on, but for the files that were read.
struct kz_request {
	int library; // KZ_LIB_*
	const char *name;
	struct kz_text *texts; // the source, then each header's name and text
	uint64_t text_count;
	char **exprs;
	uint64_t expr_count;
	const char *const *options;
	int option_count;
};

// kz_answer_key names the answer; 0 where none is kept.
int kz_answer_key(const struct kz_request *r, uint8_t key[KZ_BLAKE3_OUT]);

// kz_answer_find reads it; NULL if there is none, or if a file that it depends on has changed.
struct kz_answer *kz_answer_find(const uint8_t key[KZ_BLAKE3_OUT], uint64_t exprs);

void kz_answer_free(struct kz_answer *a);

#endif
