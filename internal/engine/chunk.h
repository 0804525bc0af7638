// How many blocks a thread takes at a time: a pure function, so that testdata/makespan can replay it for any number of threads.
#ifndef KZ_CHUNK_H
#define KZ_CHUNK_H

#include <stdint.h>

enum {
	KZ_CHUNK_NS = 100000,    // the longest that a chunk should take: a thread looks for more urgent work in between
	KZ_CHUNK_SHARE = 10,     // a thread's share of the job is at least so many chunks, as blocks need not cost the same
	KZ_CHUNK_LEFT = 5,       // and what is left at least so many for each thread: the last ones are small and end together
	KZ_CHUNK_COMES_NS = 100, // but taking one costs the counter's cache line: all threads have to get by it
	KZ_CHUNK_LEAST_NS = 1000,
	KZ_CHUNK_FIRST = 64,     // blocks of a kernel that never ran, at most
};

// The next chunk of a job of total blocks, of which left are not taken, on this many threads. ns16 is what a block costs as far
// as is known, in sixteenths of a nanosecond; 0: not yet.
static inline uint64_t kz_chunk(uint64_t total, uint64_t left, uint64_t threads, uint64_t ns16) {
	uint64_t most = left / (KZ_CHUNK_LEFT * threads), n;
	if (!ns16) {
		n = total / (16 * threads);
		if (n > KZ_CHUNK_FIRST) n = KZ_CHUNK_FIRST;
		if (n > most) n = most;
		return n ? n : 1;
	}
	uint64_t share = total / (KZ_CHUNK_SHARE * threads), least = KZ_CHUNK_COMES_NS * threads, longest = (uint64_t)KZ_CHUNK_NS * 16 / ns16;
	if (least < KZ_CHUNK_LEAST_NS) least = KZ_CHUNK_LEAST_NS;
	least = least * 16 / ns16;
	n = share < longest ? share : longest;
	if (n > most) n = most;
	if (n < least) n = least < share ? least : share; // no more than that: the next blocks may be dearer than is known
	if (n > left) n = left;
	return n ? n : 1;
}

#endif
