// __assertfail: where and what, as a record; then the kernel ends.
#include "devrt.h"

DEVICE void __assertfail(const char *message, const char *file, u32 line, const char *function, u64 charsize) {
	u32 at = 0, n = 0;
	struct out o = {0, 0, false};
	for (int pass = 0; pass < 2; pass++) {
		o.n = HEAD;
		u32 id[7] = {line, (u32)__nvvm_read_ptx_sreg_ctaid_x(), (u32)__nvvm_read_ptx_sreg_ctaid_y(), (u32)__nvvm_read_ptx_sreg_ctaid_z(),
			(u32)__nvvm_read_ptx_sreg_tid_x(), (u32)__nvvm_read_ptx_sreg_tid_y(), (u32)__nvvm_read_ptx_sreg_tid_z()};
		for (int i = 0; i < 7; i++) bytes(&o, id[i], 4);
		text(&o, message);
		text(&o, file);
		text(&o, function);
		if (pass == 0) {
			n = (o.n + 7) & ~7u;
			at = reserve(n);
			if (at == ~0u) break;
			o.at = at;
			o.writes = true;
		} else {
			publish(at, n, ASSERTION);
		}
	}
	__builtin_trap();
}
