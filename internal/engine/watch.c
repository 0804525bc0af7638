// The watchdog: a launch that runs for longer than the engine's limit is stopped, as on a card with a display.
//
// A thread in compiled code can only be stopped by a signal. The watchdog sends one to the threads that are late, one after the other and
// again until they are out, and the handler, on the thread itself, decides: it leaves the kernel if the launch is late and the
// thread is in the kernel's own code. In a runtime entry point it may hold a lock; there it goes on, and is asked again. Blocks
// that wait for others ask by themselves when they yield, and every thread before it takes blocks.
#include "internal.h"
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { AGAIN_NS = 1000000, PERIOD_MAX_NS = 100000000 };

static const char mark = 'k'; // its address tells our signals from others
static pid_t own_pid;

uint32_t kz_millis(void) {
	uint32_t ms = (uint32_t)(kz_nanos() / 1000000);
	return ms ? ms : 1; // 0 is nobody
}

bool kz_late(const struct kz_engine *e, uint32_t began) { return began && kz_millis() - began > e->limit; }

bool kz_nudged(int sig, const siginfo_t *si) {
	return sig == KZ_NUDGE && si->si_code == SI_QUEUE && si->si_value.sival_ptr == &mark && si->si_pid == own_pid;
}

bool kz_late_at(const struct kz_ctx *c, uint64_t pc) {
	if (!c || !c->armed || !kz_late(c->e, atomic_load_explicit(&c->began, memory_order_relaxed))) return false;
	const struct kz_kernel_info *k = &c->k->i;
	return pc - k->image < k->image_size;
}

// Nudges every thread whose launch is late; false: there is none. A context that is on the list with a launch has a thread, which cannot
// end before it gets ctx_lock.
static bool nudge(struct kz_engine *e) {
	bool any = false;
	kz_acquire(&e->ctx_lock);
	for (struct kz_ctx *c = e->all_contexts; c; c = c->next_all) {
		if (!kz_late(e, atomic_load_explicit(&c->began, memory_order_acquire))) continue;
		if (!any) kz_fault_assert(); // the program may have put its own handler there while the kernel ran
		any = true;
		pthread_sigqueue(c->thread, KZ_NUDGE, (union sigval){.sival_ptr = (void *)&mark});
	}
	kz_release(&e->ctx_lock);
	return any;
}

static void *watch_main(void *arg) {
	struct kz_engine *e = arg;
	prctl(PR_SET_NAME, "kudzu-watch");
	int64_t period = (int64_t)e->limit * 1000000 / 8;
	if (period > PERIOD_MAX_NS) period = PERIOD_MAX_NS;
	if (period < AGAIN_NS) period = AGAIN_NS;
	while (!atomic_load(&e->stopping)) {
		uint32_t ev = atomic_load(&e->watch_event);
		int64_t ns = nudge(e) ? AGAIN_NS : period;
		if (!atomic_load(&e->stopping)) kz_futex_wait(&e->watch_event, ev, ns);
	}
	return NULL;
}

int kz_engine_limit(struct kz_engine *e, uint32_t ms) {
	if (e->limit || !ms) return e->limit == ms ? KZ_OK : KZ_INVALID;
	own_pid = getpid();
	e->limit = ms;
	if (kz_thread_start(&e->watcher, watch_main, e) == 0) return KZ_OK;
	e->limit = 0;
	return KZ_SYSTEM;
}

uint32_t kz_engine_limited(struct kz_engine *e) { return e->limit; }

void kz_watch_stop(struct kz_engine *e) {
	if (!e->limit) return;
	atomic_fetch_add(&e->watch_event, 1);
	kz_futex_wake(&e->watch_event, INT32_MAX);
	pthread_join(e->watcher, NULL);
}
