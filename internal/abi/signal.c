// What the Go runtime may do with signals in a process that is not its own. The linker sends its
// calls of sigaction and pthread_key_create here (--wrap).
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

int __real_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int __real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));

typedef void handler(int sig, siginfo_t *info, void *context);

static handler *gos[65];          // Go's own handlers, by signal; entered through enter
static struct sigaction hosts[65]; // what was there before Go's
static struct sigaction theirs;   // SIGURG: Go preempts with it, and so may a Go host

static __thread char leaving __attribute__((tls_model("initial-exec"))); // this thread is in its last moments

enum { SPARE_BYTES = 64 << 10 };

// on_stack calls fn on the stack that ends at top.
static void on_stack(uintptr_t top, handler *fn, int sig, siginfo_t *info, void *context) {
#if defined(__x86_64__)
	register long a asm("rdi") = sig;
	register void *b asm("rsi") = info;
	register void *c asm("rdx") = context;
	asm volatile("movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\tcall *%[fn]\n\tmovq %%rbx, %%rsp"
				 : "+r"(a), "+r"(b), "+r"(c)
				 : [top] "r"(top), [fn] "r"(fn)
				 : "rbx", "rax", "rcx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
				 "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#elif defined(__aarch64__)
	register long a asm("x0") = sig;
	register void *b asm("x1") = info;
	register void *c asm("x2") = context;
	asm volatile("mov x19, sp\n\tmov sp, %[top]\n\tblr %[fn]\n\tmov sp, x19"
				 : "+r"(a), "+r"(b), "+r"(c)
				 : [top] "r"(top), [fn] "r"(fn)
				 : "x19", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x30", "memory", "cc");
#else
#error "no way to change stacks here"
#endif
}

// The image in memory, as the linker knows it.
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden")));

// ours reports a fault that our code, Go's or C's, ran into: the handler of the Go runtime knows what to do with it.
static int ours(const siginfo_t *info, const ucontext_t *uc) {
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	uintptr_t pc = uc->uc_mcontext.pc;
#endif
	return info->si_code > 0 && pc >= (uintptr_t)__ehdr_start && pc < (uintptr_t)etext;
}

// give_back does with a signal what would have been done without us. Go would print where its goroutines are and end the process with
// another signal when a function that we call for the program, a stream's say, runs into a fault.
static void give_back(int sig, siginfo_t *info, void *context) {
	const struct sigaction *h = &hosts[sig];
	if (h->sa_handler != SIG_DFL && h->sa_handler != SIG_IGN) {
		if (h->sa_flags & SA_SIGINFO) h->sa_sigaction(sig, info, context);
		else h->sa_handler(sig);
		return;
	}
	if (h->sa_handler == SIG_IGN && info->si_code <= 0) return;
	// The default is to die. A fault happens again on return; a signal that was sent must be sent again.
	struct sigaction dies = {.sa_handler = SIG_DFL};
	__real_sigaction(sig, &dies, NULL);
	if (info->si_code <= 0) raise(sig);
}

// enter is what the kernel calls for Go's signals. A fault that is none of ours is the program's. Go ends the process if a signal finds a thread in Go code with no alternate
// signal stack. A thread that had one when it first called us may have taken it away since: Python's faulthandler does at exit.
// Then a stack is lent for the time of the handler; what the thread had comes back when it returns.
static void enter(int sig, siginfo_t *info, void *context) {
	if (sig != SIGURG && !ours(info, context)) {
		give_back(sig, info, context);
		return;
	}
	stack_t now;
	void *p;
	if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE) ||
		(p = mmap(NULL, SPARE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) == MAP_FAILED) {
		gos[sig](sig, info, context);
		return;
	}
	stack_t spare = {.ss_sp = p, .ss_size = SPARE_BYTES};
	sigaltstack(&spare, NULL);
	on_stack((uintptr_t)p + SPARE_BYTES, gos[sig], sig, info, context);
	sigaltstack(&now, NULL);
	munmap(p, SPARE_BYTES);
}

static void both(int sig, siginfo_t *info, void *context) {
	enter(sig, info, context);
	if (leaving) return;
	if (theirs.sa_flags & SA_SIGINFO)
		theirs.sa_sigaction(sig, info, context);
	else
		theirs.sa_handler(sig);
}

// gos_own reports that act sets Go's handler. Go sets its signals first, before anything else of the image, and may set them again.
static int gos_own(int sig, const struct sigaction *act) {
	if (!(act->sa_flags & SA_SIGINFO) || act->sa_handler == SIG_DFL || act->sa_handler == SIG_IGN) return 0;
	if (sig != SIGSEGV && sig != SIGBUS && sig != SIGFPE && sig != SIGURG) return 0;
	if (!gos[sig]) {
		__real_sigaction(sig, NULL, &hosts[sig]);
		gos[sig] = act->sa_sigaction;
	}
	return gos[sig] == act->sa_sigaction;
}

int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old) {
	if (act && sig == SIGPIPE) // the host's business
		return __real_sigaction(sig, NULL, old);
	if (act && gos_own(sig, act)) {
		struct sigaction a = *act;
		a.sa_sigaction = enter;
		if (sig == SIGURG && !theirs.sa_handler) {
			__real_sigaction(sig, NULL, &theirs);
			if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
				// Without this a Go host's preemption signals would end in our runtime, and its
				// threads would wait for them for good.
				a.sa_sigaction = both;
				if (old)
					*old = theirs;
				return __real_sigaction(sig, &a, NULL);
			}
		}
		return __real_sigaction(sig, &a, old);
	}
	return __real_sigaction(sig, act, old);
}

static void (*drop)(void *); // gives back what our runtime kept for a thread that ends

// leave runs at the end of a thread that called us. A Go host blocks every signal before it takes its own thread apart; our
// runtime then sets the mask the thread had when it first called us, and a preemption signal that was pending would reach
// the host's handler with no signal stack and no thread left to it: the process died of that, silently.
static void leave(void *g) {
	sigset_t all, was, urgent;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	if (sigismember(&was, SIGURG) == 1) {
		const struct timespec now = {0, 0};
		sigemptyset(&urgent);
		sigaddset(&urgent, SIGURG);
		while (sigtimedwait(&urgent, NULL, &now) > 0) {}
	}
	leaving = 1;
	drop(g);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	leaving = 0;
}

int __wrap_pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
	if (destructor && !drop) { // the one key of runtime/cgo
		drop = destructor;
		destructor = leave;
	}
	return __real_pthread_key_create(key, destructor);
}
