// The end of an engine: when kz_engine_stop returns, no thread of it is left. Threads linger here after their last line of the
// engine's code, so that whoever does not wait for them is seen. Part of main.c; sanitize_test.go puts the wrapper in.

static _Atomic int living;

struct started {
	void *(*fn)(void *);
	void *arg;
};

static void *lingering(void *arg) {
	struct started s = *(struct started *)arg;
	free(arg);
	void *r = s.fn(s.arg);
	usleep(3000);
	living--;
	return r;
}

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg) {
	struct started *s = malloc(sizeof *s);
	if (!s) return EAGAIN;
	*s = (struct started){fn, arg};
	living++;
	int rc = __real_pthread_create(t, a, lingering, s);
	if (rc) {
		living--;
		free(s);
	}
	return rc;
}

// All blocks are under way at once, each on a thread of its own: it cannot be left.
static uint32_t k_stay(const struct kz_launch *l, struct kz_worker *w, uint64_t first, uint64_t count) {
	uint32_t (*yield)(const struct kz_launch *, struct kz_worker *) = (void *)l->rt[6];
	const struct meeting *m = (const void *)l->params;
	(void)first;
	if (count != 1) return 5;
	atomic_fetch_add(m->arrived, 1);
	while (atomic_load(m->arrived) < m->blocks) (void)yield(l, w);
	return 0;
}

// Threads that stand in: asleep when the engine ends, on their way to sleep, and, in every third round, in the middle of a fork. The
// thread that ends the engine takes no signals. Comes first: no other thread is there.
static void ends(void) {
	sigset_t all, old;
	sigfillset(&all);
	struct kz_kernel_info info = {.entry = (uint64_t)k_stay, .cookie = 3, .spins = 1};
	struct kz_kernel *k = kz_kernel_new(&info);
	for (int i = 0; i < 9; i++) {
		struct kz_engine *own;
		pthread_sigmask(SIG_SETMASK, &all, &old);
		CHECK(kz_engine_start(1 + i % 2, &own) == KZ_OK);
		struct kz_domain *d = kz_domain_new(own, NULL, NULL);
		struct kz_queue *q = kz_queue_new(d, 0);
		_Atomic uint64_t arrived = 0;
		struct meeting m = {&arrived, 20};
		struct kz_launch_args a = {.grid = {20, 1, 1}, .block = {32, 1, 1}, .params_bytes = sizeof m, .cooperative = 1};
		CHECK(kz_queue_launch(q, k, &a, (const uint8_t *)&m) == KZ_OK);
		if (i % 3 == 0) {
			pid_t p = fork();
			if (p == 0) END_CHILD(0);
			int status = -1;
			CHECK(waitpid(p, &status, 0) == p && status == 0);
		}
		CHECK(sync_queue(q) == KZ_OK);
		struct kz_stats st;
		kz_engine_stats(own, &st);
		CHECK(st.extra > 0); // or nothing was tried
		kz_queue_unref(q);
		kz_domain_unref(d);
		if (i % 3 == 1) usleep(5000);
		kz_engine_stop(own);
		CHECK(living == 0);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	kz_kernel_free(k);
}
