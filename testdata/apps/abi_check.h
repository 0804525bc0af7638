// What the abi_ programs share: a count of failures, printed as they happen.
#ifndef ABI_CHECK_H
#define ABI_CHECK_H

#include <stdio.h>

static int failures;

#define EXPECT(got, want)                                                                  \
	do {                                                                                   \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
		if (got_ != want_) {                                                               \
			printf("%s:%d: %s is %lld, want %lld\n", __FILE__, __LINE__, #got, got_, want_); \
			failures++;                                                                    \
		}                                                                                  \
	} while (0)

static inline int finish(void) {
	if (!failures)
		puts("ok");
	fflush(stdout);
	return failures != 0;
}

#endif
