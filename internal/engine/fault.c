// Signals: a fault in a kernel ends the kernel, every other fault goes where it would have gone without us.
//
// Our handlers stand on a ladder of entry points, each with its own record of what it displaced. When a host has put its
// handler over ours, the next rung goes over that one; chaining only ever goes down, so two handlers that restore each
// other cannot loop. A kernel's fault is not unwound: the handler rewrites the interrupted context to resume at
// kz_recover on the caller's stack, so that the kernel's sigreturn restores mask and alternate stack by itself.
#include "internal.h"
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define RUNGS 8
static const int sigs[4] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// One pointer: a Go image's thread-local storage must stay within the loader's static surplus.
static __thread struct kz_ctx *tl_ctx __attribute__((tls_model("initial-exec")));

static struct sigaction prev[RUNGS][65];
static int top[65]; // highest rung in use for the signal, -1: none; guarded by install_lock
static kz_lock install_lock = KZ_LOCK(KZ_RANK_HANDLERS);
static pid_t self_pid;
static uintptr_t self_lo, self_hi;
static _Atomic int64_t asserted_at, looked_at;
static bool installed; // guarded by install_lock

void kz_ctx_bind(struct kz_ctx *c) { tl_ctx = c; }
struct kz_ctx *kz_ctx_current(void) { return tl_ctx; }

static uint64_t uc_pc(ucontext_t *uc) {
#if defined(__x86_64__)
	return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return uc->uc_mcontext.pc;
#else
#error "engine: no fault capture for this processor"
#endif
}

static void uc_resume(ucontext_t *uc, struct kz_ctx *c, uint64_t result) {
#if defined(__x86_64__)
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)kz_recover;
	uc->uc_mcontext.gregs[REG_RSP] = (greg_t)c->jump.sp;
	uc->uc_mcontext.gregs[REG_RAX] = (greg_t)result;
	uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x400; // direction flag
#elif defined(__aarch64__)
	uc->uc_mcontext.pc = (uint64_t)kz_recover;
	uc->uc_mcontext.sp = c->jump.sp;
	uc->uc_mcontext.regs[0] = result;
#endif
	// A host's handler that raised the signal again had it blocked.
	for (int i = 0; i < 4; i++) sigdelset(&uc->uc_sigmask, sigs[i]);
}

static void chain(const struct sigaction *p, int sig, siginfo_t *si, void *uc) {
	if (p->sa_flags & SA_SIGINFO) {
		if (p->sa_sigaction) {
			p->sa_sigaction(sig, si, uc);
			return;
		}
	} else if (p->sa_handler == SIG_IGN && si->si_code <= 0) {
		return;
	} else if (p->sa_handler != SIG_DFL && p->sa_handler != SIG_IGN) {
		p->sa_handler(sig);
		return;
	}
	// The default is to die. A fault happens again on return; a signal that was sent must be sent again.
	struct sigaction d;
	memset(&d, 0, sizeof d);
	d.sa_handler = SIG_DFL;
	sigaction(sig, &d, NULL);
	if (si->si_code <= 0) raise(sig);
}

static void on_fault(int k, int sig, siginfo_t *si, void *ucv) {
	ucontext_t *uc = ucv;
	struct kz_ctx *c = tl_ctx;
	uint64_t pc = uc_pc(uc);
	if (kz_nudged(sig, si)) {
		if (!kz_late_at(c, pc)) return;
		c->armed = 0;
		c->sig_pc = pc;
		uc_resume(uc, c, KZ_LATE);
		return;
	}
	if (c && c->armed && (si->si_code > 0 || si->si_pid == self_pid)) {
		c->armed = 0;
		c->sig = sig;
		c->sig_code = si->si_code;
		c->sig_addr = (uint64_t)si->si_addr;
		c->sig_pc = pc;
		uc_resume(uc, c, KZ_FAULTED);
		return;
	}
#if defined(__x86_64__)
	uint64_t gather = (uint64_t)kz_gather;
	if (si->si_code > 0 && pc - gather < (uint64_t)kz_gather_bad - gather) { // the program gave us a bad address
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)kz_gather_bad;
		return;
	}
#endif
	// A fault in this image's own text is Go code's: it belongs to the handler Go installed, which the first rung displaced.
	if (si->si_code > 0 && pc - self_lo < self_hi - self_lo) k = 0;
	chain(&prev[k][sig], sig, si, ucv);
}

#define RUNG(k) static void rung##k(int s, siginfo_t *i, void *u) { on_fault(k, s, i, u); }
RUNG(0) RUNG(1) RUNG(2) RUNG(3) RUNG(4) RUNG(5) RUNG(6) RUNG(7)
static void (*const rungs[RUNGS])(int, siginfo_t *, void *) = {rung0, rung1, rung2, rung3, rung4, rung5, rung6, rung7};

static int rung_of(const struct sigaction *a) {
	if (a->sa_flags & SA_SIGINFO)
		for (int k = 0; k < RUNGS; k++)
			if (a->sa_sigaction == rungs[k]) return k;
	return -1;
}

// Preconditions: install_lock is held.
static void assert_one(int sig) {
	struct sigaction cur;
	if (sigaction(sig, NULL, &cur) != 0) return;
	if (rung_of(&cur) >= 0) return;
	if (top[sig] + 1 >= RUNGS) return; // a host that does this eight times has to live with its own handler
	int k = top[sig] + 1;
	prev[k][sig] = cur;
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_sigaction = rungs[k];
	a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	a.sa_mask = cur.sa_mask;
	if (sigaction(sig, &a, NULL) == 0) top[sig] = k;
}

void kz_fault_assert(void) {
	kz_acquire(&install_lock);
	if (installed)
		for (int i = 0; i < 4; i++) assert_one(sigs[i]);
	kz_release(&install_lock);
	int64_t now = kz_nanos();
	atomic_store_explicit(&asserted_at, now, memory_order_relaxed);
	atomic_store_explicit(&looked_at, now, memory_order_relaxed);
}

enum { LOOK_AFTER = 4000, ASSERT_AFTER = 1000000 };

// A look at all signals is four system calls, too many for every kernel; at the one that nearly every fault is, it is one. Less often
// than that it must not be: a program that puts its handler over ours and has a kernel fault at once would get the fault, and jump out
// of the engine with it.
void kz_fault_reassert(int64_t now) {
	if (now - atomic_load_explicit(&looked_at, memory_order_relaxed) <= LOOK_AFTER) return;
	struct sigaction cur;
	if (now - atomic_load_explicit(&asserted_at, memory_order_relaxed) > ASSERT_AFTER || sigaction(SIGSEGV, NULL, &cur) != 0 || rung_of(&cur) < 0)
		kz_fault_assert();
	else
		atomic_store_explicit(&looked_at, now, memory_order_relaxed);
}

// When this thread's mask was last looked at.
static __thread int64_t unmasked_at __attribute__((tls_model("initial-exec")));

enum { MASK_AFTER = 100000 };

// A thread of the program that runs a kernel may have blocked the signals of faults: the system then ends the process. As above, a look
// costs a system call, too many for every kernel of a thread that launches one after the other; masks change seldom.
uint32_t kz_fault_unmask(int64_t now) {
	if (now - unmasked_at <= MASK_AFTER) return 0;
	unmasked_at = now;
	sigset_t four, was;
	sigemptyset(&four);
	for (int i = 0; i < 4; i++) sigaddset(&four, sigs[i]);
	if (pthread_sigmask(SIG_UNBLOCK, &four, &was) != 0) return 0;
	uint32_t blocked = 0;
	for (int i = 0; i < 4; i++)
		if (sigismember(&was, sigs[i]) == 1) blocked |= 1u << i;
	return blocked;
}

void kz_fault_remask(uint32_t blocked) {
	sigset_t some;
	sigemptyset(&some);
	for (int i = 0; i < 4; i++)
		if (blocked & 1u << i) sigaddset(&some, sigs[i]);
	pthread_sigmask(SIG_BLOCK, &some, NULL);
	unmasked_at = 0;
}

static int find_self(struct dl_phdr_info *info, size_t size, void *data) {
	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t lo = info->dlpi_addr + p->p_vaddr, hi = lo + p->p_memsz;
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && (uintptr_t)find_self >= lo && (uintptr_t)find_self < hi) {
			self_lo = lo;
			self_hi = hi;
			return 1;
		}
	}
	return 0;
}

int kz_fault_install(void) {
	kz_acquire(&install_lock);
	if (!installed) {
		self_pid = getpid();
		dl_iterate_phdr(find_self, NULL);
		for (int i = 0; i < 65; i++) top[i] = -1;
		installed = true;
	}
	kz_release(&install_lock);
	kz_fault_assert();
	return KZ_OK;
}

enum { ALT_BYTES = 64 << 10 };

void *kz_altstack(void) {
	stack_t cur;
	if (sigaltstack(NULL, &cur) == 0 && !(cur.ss_flags & SS_DISABLE)) return NULL;
	void *p = mmap(NULL, ALT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (p == MAP_FAILED) return NULL;
	stack_t s = {.ss_sp = p, .ss_size = ALT_BYTES};
	if (sigaltstack(&s, NULL) == 0) return p;
	munmap(p, ALT_BYTES);
	return NULL;
}

void kz_altstack_free(void *p) {
	if (!p) return;
	stack_t off = {.ss_flags = SS_DISABLE};
	if (sigaltstack(&off, NULL) == 0) munmap(p, ALT_BYTES);
}
