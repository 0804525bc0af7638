// What the device runtime's functions share: the memory through which they speak to the host (devrt.go has the same layout) and
// the few things that clang calls by its own names. No vendor's header is needed.
#define DEVICE extern "C" __attribute__((device))
#define LOCAL static __attribute__((device, always_inline))
typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned char u8;

// The mailbox: records in a ring. head and tail count bytes; the host moves tail.
struct mailbox {
	u32 head, tail, size, dropped; // size is a power of two
	u32 trapped, stopped; // stopped: why, where that is known
	u32 pad[10];
	u32 ring[1];
};

// The heap: blocks of powers of two, each behind a header of 16 bytes; what is free is in lists by size.
struct heap {
	u32 lock, pad;
	u64 top, end;    // what was never given away
	u64 lists[32];
};

extern __attribute__((device)) struct mailbox kudzu_mailbox;
extern __attribute__((device)) struct heap kudzu_heap;

enum { PRINT = 1, ASSERTION = 2 };
enum { HEAD = 8, MOST = 64 << 10 }; // of a record: its head; the most that it may take

LOCAL u32 read(const u32 *p) { return *(const volatile u32 *)p; }
LOCAL void fence() { __nvvm_membar_sys(); }

// reserve takes n bytes of the ring, or -1 if the host has not yet made room.
LOCAL u32 reserve(u32 n) {
	u32 size = kudzu_mailbox.size;
	if (n <= MOST && n <= size) {
		u32 at = read(&kudzu_mailbox.head);
		while (at + n - read(&kudzu_mailbox.tail) <= size) {
			u32 was = __sync_val_compare_and_swap(&kudzu_mailbox.head, at, at + n);
			if (was == at) return at;
			at = was;
		}
	}
	__sync_fetch_and_add(&kudzu_mailbox.dropped, 1);
	return ~0u;
}

LOCAL void put8(u32 at, u8 v) { ((u8 *)kudzu_mailbox.ring)[at & (kudzu_mailbox.size - 1)] = v; }

LOCAL void put32(u32 at, u32 v) { *(volatile u32 *)&kudzu_mailbox.ring[(at & (kudzu_mailbox.size - 1)) / 4] = v; }

// publish makes a record of n bytes at at readable: its kind is written last.
LOCAL void publish(u32 at, u32 n, u32 kind) {
	put32(at + 4, n);
	fence();
	put32(at, kind);
	fence();
}

// out is where the parts of a record go, or only how many bytes they are.
struct out {
	u32 at, n;
	bool writes;
};

LOCAL void byte(struct out *o, u8 v) {
	if (o->writes) put8(o->at + o->n, v);
	o->n++;
}

LOCAL void bytes(struct out *o, u64 v, u32 n) {
	for (u32 i = 0; i < n; i++, v >>= 8) byte(o, (u8)v);
}

// text is a C string with its end; no string is longer than a record.
LOCAL void text(struct out *o, const char *s) {
	if (s)
		for (u32 i = 0; i < MOST && s[i]; i++) byte(o, (u8)s[i]);
	byte(o, 0);
}
