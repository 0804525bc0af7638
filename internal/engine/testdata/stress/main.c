// A stress test of the engine alone, to be built with -fsanitize=thread, address or nothing: see sanitize_test.go.
#include "../../engine.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <time.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) // their reports at exit know nothing of forks
#define END_CHILD _exit
#else
#define END_CHILD exit
#endif

static struct kz_engine *e;
static struct kz_mem *mem;
static _Atomic int failures;

#define CHECK(x) \
	do \
		if (!(x)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			failures++; \
		} \
	while (0)

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// Kernels: C functions of the calling convention do as well as compiled ones.
struct params { _Atomic uint64_t *counter; uint64_t n; };

static uint32_t k_empty(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	(void)l, (void)w, (void)first, (void)count;
	return 0;
}
static uint32_t k_count(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	(void)w, (void)first;
	atomic_fetch_add(((const struct params *)l->params)->counter, count);
	return 0;
}
static uint32_t k_affine(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	(void)w, (void)first, (void)count;
	const struct params *p = (const void *)l->params;
	uint64_t *plain = (uint64_t *)p->counter; // no atomics: the queue's order must be enough
	*plain = *plain * 3 + p->n;
	return 0;
}
__attribute__((no_sanitize("thread", "address"))) static uint32_t k_fault(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	(void)w, (void)first, (void)count;
	*(volatile int *)(uintptr_t)(16 + l->shared_dynamic) = 1;
	return 0;
}

static uint32_t k_busy(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	(void)w;
	const struct params *p = (const void *)l->params;
	for (uint64_t b = first; b < first + count; b++) // with counter set, a block's time goes with its number
		for (volatile uint64_t i = p->n * (p->counter ? b : 1); i; i--) {}
	return 0;
}

static struct kz_kernel *kernel(kz_entry fn) {
	struct kz_kernel_info i = {.entry = (uint64_t)fn, .cookie = 1};
	return kz_kernel_new(&i);
}

static int launch(struct kz_queue *q, struct kz_kernel *k, uint32_t blocks, void *counter, uint64_t n) {
	struct kz_launch_args a = {.grid = {blocks, 1, 1}, .block = {32, 1, 1}, .params_bytes = sizeof(struct params)};
	struct params p = {counter, n};
	return kz_queue_launch(q, k, &a, (const uint8_t *)&p);
}

// Launches whose kernels come later: a task's number beyond LATER is a place here.
enum { PLACES = 4096 };
#define LATER (UINT64_C(1) << 32)
#define FAMILY (UINT64_C(1) << 33) // the task behind a grid that launches others
static _Atomic(void *) places[PLACES];
static _Atomic uint64_t taken;
static struct kz_kernel *affine;

static void family_over(uint64_t id);

static void call_task(uint64_t id) {
	if (id >= FAMILY) {
		family_over(id - FAMILY);
	} else if (id >= LATER) {
		void *launch;
		while (!(launch = atomic_load(&places[id - LATER]))) {} // its launcher is just writing it down
		struct kz_launch_args a = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
		CHECK(kz_launch_fill(launch, affine, &a) == KZ_OK);
	}
}

static void run_task(uint64_t id, void *t) {
	call_task(id);
	kz_task_done(t, NULL, NULL);
}

static int launch_later(struct kz_queue *q, void *counter, uint64_t n) {
	uint64_t place = taken++;
	if (place >= PLACES) return launch(q, affine, 1, counter, n);
	struct params p = {counter, n};
	void *l = NULL;
	int rc = kz_queue_later(q, LATER + place, sizeof p, (const uint8_t *)&p, &l);
	atomic_store(&places[place], l);
	return rc;
}

static int sync_queue(struct kz_queue *q) {
	for (;;) {
		uint64_t id;
		void *t;
		int rc = kz_queue_sync(q, &id, &t);
		if (rc != KZ_TASK) return rc;
		run_task(id, t);
	}
}

static struct kz_kernel *empty, *count, *fault;
static _Atomic uint64_t counters[1];

static void *user(void *arg) {
	uint64_t g = (uint64_t)arg;
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q[3];
	for (int i = 0; i < 3; i++) q[i] = kz_queue_new(d, i);
	uint64_t a, want = 0, blocks = 0;
	CHECK(kz_mem_alloc(mem, 4096, 0, &a) == KZ_OK);
	memset((void *)a, 0, 4096);
	for (uint64_t i = 0; i < 120; i++) {
		struct kz_queue *x = q[i % 3];
		CHECK((i % 4 == 2 ? launch_later(x, (void *)a, i) : launch(x, affine, 1, (void *)a, i)) == KZ_OK);
		want = want * 3 + i;
		CHECK(launch(x, count, (uint32_t)(1 + (i * g) % 50), (void *)(a + 64), 0) == KZ_OK);
		blocks += 1 + (i * g) % 50;
		if (i % 7 == 0) CHECK(kz_queue_task(x, i, (int)(i & 1), 0) == KZ_OK);
		struct kz_fence *f;
		CHECK(kz_queue_mark(x, &f) == KZ_OK);
		CHECK(kz_queue_wait(q[(i + 1) % 3], f) == KZ_OK);
		if (i % 11 == 0) {
			uint64_t id;
			void *t;
			int rc;
			while ((rc = kz_fence_sync(f, &id, &t)) == KZ_TASK) run_task(id, t);
			CHECK(rc == KZ_OK && kz_fence_nanos(f) > 0);
		}
		kz_fence_unref(f);
		uint64_t b;
		CHECK(kz_mem_alloc(mem, 1 + i * 5000, 0, &b) == KZ_OK);
		CHECK(kz_queue_fill(x, b, 7, 1, 1 + i * 5000, 0, 1) == KZ_OK);
		if (i % 5 == 0) {
			CHECK(sync_queue(x) == KZ_OK);
			CHECK(((uint8_t *)b)[i * 5000] == 7);
			CHECK(kz_mem_free(mem, b) == KZ_OK);
		}
	}
	for (int i = 0; i < 3; i++) CHECK(sync_queue(q[i]) == KZ_OK);
	CHECK(*(uint64_t *)a == want);
	CHECK(*(uint64_t *)(a + 64) == blocks);
	CHECK(launch(q[0], fault, 9, NULL, 0) == KZ_OK);
	CHECK(sync_queue(q[0]) == KZ_POISONED);
	struct kz_fault f;
	CHECK(kz_domain_fault(d, &f) && f.kind == KZ_FAULT_ADDRESS && f.addr == 16);
	CHECK(launch(q[1], count, 1, NULL, 0) == KZ_POISONED);
	for (int i = 0; i < 3; i++) kz_queue_unref(q[i]);
	kz_domain_unref(d);
	return NULL;
}

static void *pump(void *arg) {
	(void)arg;
	uint64_t id;
	void *t;
	while (kz_task_next(e, &id, &t) == 0)
		do call_task(id);
		while (kz_task_done(t, &id, &t));
	return NULL;
}

// --- the ladder: hosts with handlers of their own ---

static struct sigaction below;
static _Atomic int rude, polite;

static void rude_handler(int sig) {
	(void)sig;
	rude++;
	_Exit(3);
}
static void polite_handler(int sig, siginfo_t *si, void *uc) {
	polite++;
	below.sa_sigaction(sig, si, uc);
}
static void reraising_handler(int sig) { // what Python's faulthandler does
	polite++;
	sigaction(sig, &below, NULL);
	raise(sig);
}

static void one_fault(void) {
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	CHECK(launch(q, fault, 1, NULL, 0) == KZ_OK);
	CHECK(sync_queue(q) == KZ_POISONED);
	kz_queue_unref(q);
	kz_domain_unref(d);
}

static void ladder(void) {
	struct sigaction a = {.sa_sigaction = polite_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGSEGV, &a, &below); // over ours, chains: the fault comes to us through it
	one_fault();
	CHECK(polite <= 1); // 0 if the engine has put itself on top again by then
	a = (struct sigaction){.sa_handler = reraising_handler, .sa_flags = SA_ONSTACK};
	kz_fault_assert();
	sigaction(SIGSEGV, &a, &below);
	one_fault();
	CHECK(polite <= 2);
	a = (struct sigaction){.sa_handler = rude_handler, .sa_flags = SA_ONSTACK};
	sigaction(SIGSEGV, &a, NULL); // over ours, does not chain: only being on top again helps
	kz_fault_assert();
	one_fault();
	CHECK(rude == 0);
	for (int i = 0; i < 20; i++) { // a host that keeps doing it runs out of rungs, not into a loop
		sigaction(SIGSEGV, &a, NULL);
		kz_fault_assert();
	}
	CHECK(rude == 0);
}

// A child of a busy process must be able to end, and the parent must not notice.
static void forks(void) {
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < 50; j++) launch(q, count, 100, counters, 0);
		pid_t p = fork();
		if (p == 0) END_CHILD(0);
		int status = -1;
		CHECK(waitpid(p, &status, 0) == p && status == 0);
	}
	CHECK(sync_queue(q) == KZ_OK);
	CHECK(*counters == 20 * 50 * 100);
	kz_queue_unref(q);
	kz_domain_unref(d);
}

static void bench(void) {
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	enum { N = 200000 };
	uint64_t t = now();
	for (int i = 0; i < N; i++) {
		launch(q, empty, 1, NULL, 0);
		sync_queue(q);
	}
	printf("launch + sync %.0f ns\n", (double)(now() - t) / N);
	uint64_t enqueue = 0;
	for (int i = 0; i < N / 1000; i++) {
		t = now();
		for (int j = 0; j < 1000; j++) launch(q, empty, 1, NULL, 0);
		enqueue += now() - t;
		sync_queue(q);
	}
	printf("enqueue in a burst %.0f ns\n", (double)enqueue / N);
	t = now();
	for (int i = 0; i < N; i++) launch(q, empty, 1, NULL, 0);
	sync_queue(q);
	printf("throughput of empty kernels %.0f ns\n", (double)(now() - t) / N);
	t = now();
	for (int i = 0; i < N; i++) {
		uint64_t a;
		kz_mem_alloc(mem, 1000, 0, &a);
		kz_mem_free(mem, a);
	}
	printf("alloc + free %.0f ns\n", (double)(now() - t) / N);
	static const struct { uint32_t blocks; uint64_t turns; void *slope; const char *name; } rows[] = {
		{8192, 20000, NULL, "8192 blocks of 10 us"},       {1000000, 100, NULL, "1M blocks of 50 ns"}, {64, 10000, NULL, "64 blocks of 5 us"},
		{1024, 40, (void *)1, "1024 blocks, 0 .. 20 us"}, {16, 2000, NULL, "16 blocks of 1 us"},
	};
	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
		struct kz_kernel *k = kernel(k_busy);
		uint64_t best = UINT64_MAX, alone = UINT64_MAX;
		struct params p = {rows[r].slope, rows[r].turns};
		struct kz_launch l = {.params = (void *)&p};
		for (int i = 0; i < 5; i++) {
			t = now();
			k_busy(&l, NULL, 0, rows[r].blocks);
			if (now() - t < alone) alone = now() - t;
			for (int j = 0; j < 10; j++) {
				t = now();
				launch(q, k, rows[r].blocks, rows[r].slope, rows[r].turns);
				sync_queue(q);
				if (now() - t < best) best = now() - t;
			}
		}
		printf("%-26s %8.1f us alone, %8.1f us by the engine: %.2fx\n", rows[r].name, (double)alone / 1e3, (double)best / 1e3, (double)alone / (double)best);
		kz_kernel_free(k);
	}
	struct kz_stats st;
	kz_engine_stats(e, &st);
	printf("kernels %lu chunks %lu helped %lu wakes %lu extra %lu\n", st.kernels, st.chunks, st.helped, st.wakes, st.extra);
	kz_queue_unref(q);
	kz_domain_unref(d);
}

#include "more.h"
#include "launches.h"
#include "ends.h"

// --- the crowd: a job has no more threads than there are workers, whoever waits for it ---

static _Atomic int inside, most;

static uint32_t k_crowd(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	(void)l, (void)w, (void)first;
	int n = ++inside, old = most;
	while (n > old && !atomic_compare_exchange_weak(&most, &old, n)) {}
	for (volatile uint64_t i = 2000 * count; i; i--) {}
	inside--;
	return 0;
}

static void *waiter(void *q) {
	CHECK(sync_queue(q) == KZ_OK);
	return NULL;
}

static void crowd(void) {
	struct kz_domain *d = kz_domain_new(e, mem, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	struct kz_kernel *k = kernel(k_crowd);
	for (int i = 0; i < 20; i++) {
		pthread_t t[4];
		CHECK(launch(q, k, 300, NULL, 0) == KZ_OK && launch(q, k, 300, NULL, 0) == KZ_OK);
		for (int j = 0; j < 4; j++) pthread_create(&t[j], NULL, waiter, q);
		for (int j = 0; j < 4; j++) pthread_join(t[j], NULL);
	}
	CHECK(inside == 0 && most >= 1 && most <= kz_engine_threads(e));
	kz_queue_unref(q);
	kz_kernel_free(k);
	kz_domain_unref(d);
}

// A recorder as libkudzu-base.so's: four threads put work into a queue each, and every piece is told of twice, when it was put in and
// when it ran, with the call that it is the work of.
enum { RECORDED_KINDS = 14, RECORDED_QUEUES = 4 };
static _Atomic uint64_t recorded[RECORDED_KINDS][RECORDED_QUEUES];
static __thread uint64_t under_way;
static uint64_t recorded_call(void) { return under_way; }
static void recorded_event(uint16_t type, uint64_t id, uint64_t t0, uint64_t t1, uint32_t device, uint64_t stream, const uint64_t v[4], const char *text) {
	CHECK(t0 && device == 3 && stream < RECORDED_QUEUES && type < RECORDED_KINDS);
	CHECK(t1 ? t0 <= t1 && t1 <= now() : type == 13 && t0 <= now()); // putting it in has an end only if it waited for room
	CHECK(id >> 32 == stream + 1);
	if (type == 1) CHECK(!strcmp(text, "count") && v[0] == (7 | UINT64_C(1) << 32) && v[1] == (1 | UINT64_C(32) << 32) && v[3] >> 32 == 2);
	if (type == 2) CHECK(v[0] == 4096 && v[1] == (1 | UINT64_C(2) << 32));
	if (type == 3) CHECK(v[0] == 512);
	atomic_fetch_add(&recorded[type][stream], 1);
}
static void recorded_launch(const void *params, size_t bytes) { CHECK(params || !bytes); }
static const struct kz_recorder recorder = {now, recorded_call, recorded_event, recorded_launch};

static void *recorded_user(void *arg) {
	enum { N = 300 };
	uint64_t stream = (uint64_t)arg, buffer, counted = 0;
	static char source[4096];
	struct kz_domain *d = kz_domain_new(e, NULL, NULL);
	struct kz_queue *q = kz_queue_new(d, 0);
	CHECK(kz_mem_alloc(mem, 4096, 256, &buffer) == KZ_OK);
	kz_queue_tag(q, 3, stream);
	struct kz_kernel_info i = {.entry = (uint64_t)k_count, .cookie = 1};
	struct kz_kernel *k = kz_kernel_new(&i);
	CHECK(kz_kernel_name(k, "counting", 5, 2) == KZ_OK);
	_Atomic uint64_t counter = 0;
	for (int j = 0; j < N; j++) {
		under_way = (stream + 1) << 32 | (uint64_t)j;
		CHECK(launch(q, k, 7, &counter, 0) == KZ_OK);
		if (j % 3 == 0) CHECK(kz_queue_copy(q, buffer, (uint64_t)source, sizeof source) == KZ_OK);
		if (j % 4 == 0) CHECK(kz_queue_fill(q, buffer, 0, 4, 128, 0, 1) == KZ_OK);
		if (j % 50 == 0) kz_queue_sync(q, NULL, NULL);
	}
	under_way = 0;
	CHECK(kz_queue_sync(q, NULL, NULL) == KZ_OK);
	counted = counter;
	CHECK(counted == 7 * N);
	CHECK(recorded[1][stream] == N && recorded[2][stream] == N / 3 && recorded[3][stream] == N / 4);
	CHECK(recorded[13][stream] == N + N / 3 + N / 4);
	kz_queue_unref(q);
	kz_domain_unref(d);
	kz_kernel_free(k);
	kz_mem_free(mem, buffer);
	return NULL;
}

static void records(void) {
	pthread_t u[RECORDED_QUEUES];
	kz_record_to((uint64_t)&recorder);
	for (uint64_t i = 0; i < RECORDED_QUEUES; i++) pthread_create(&u[i], NULL, recorded_user, (void *)i);
	for (int i = 0; i < RECORDED_QUEUES; i++) pthread_join(u[i], NULL);
	kz_record_to(0);
}

int main(int argc, char **argv) {
	setvbuf(stdout, NULL, _IONBF, 0); // children must not print what the parent has not yet
	ends();
	if (kz_engine_start(argc > 1 ? atoi(argv[1]) : 4, &e) != KZ_OK) return 2;
	mem = kz_mem_new(UINT64_C(4) << 30, 1);
	empty = kernel(k_empty), count = kernel(k_count), affine = kernel(k_affine), fault = kernel(k_fault);
	pthread_t p, u[6];
	pthread_create(&p, NULL, pump, NULL);
	for (uint64_t i = 0; i < 6; i++) pthread_create(&u[i], NULL, user, (void *)(i + 1));
	for (int i = 0; i < 6; i++) pthread_join(u[i], NULL);
	everything();
	launches();
	crowd();
	records();
	if (argc > 2) bench();
	forks();
	ladder();
	kz_mem_close(mem);
	kz_engine_halt(e);
	pthread_join(p, NULL);
	kz_engine_stop(e);
	printf("%d failures\n", failures);
	return failures ? 1 : 0;
}
