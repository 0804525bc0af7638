// Exceptions, and back traces, through calls that are recorded. The double of libcuda calls a stream's function at once.
#include <cstdio>
#include <execinfo.h>
#include <stdexcept>

extern "C" int cuLaunchHostFunc(void *stream, void (*fn)(void *), void *data);
extern "C" int cuDriverGetVersion(int *version);

static int unwound;

struct guard {
	~guard() { unwound++; }
};

static void outer();

// Who called: the addresses on the stack must reach the function that made the call.
__attribute__((noinline)) static bool reaches(void *from, void *to) {
	void *at[64];
	int n = backtrace(at, 64);
	for (int i = 0; i < n; i++)
		if (at[i] >= from && at[i] < to)
			return true;
	return false;
}

static void *begin, *end;

static void thrower(void *) {
	guard g;
	int v;
	cuDriverGetVersion(&v);
	if (!reaches(begin, end))
		std::puts("the back trace does not reach the caller");
	throw std::runtime_error("out");
}

__attribute__((noinline)) static void outer() {
	begin = (void *)outer, end = (char *)begin + 400;
	guard g;
	cuLaunchHostFunc(nullptr, thrower, nullptr);
}

int main() {
	int caught = 0;
	for (int i = 0; i < 200; i++)
		try {
			outer();
		} catch (const std::runtime_error &) {
			caught++;
		}
	int v = 0;
	cuDriverGetVersion(&v);
	std::printf(caught == 200 && unwound == 400 && v == 7 ? "ok\n" : "caught %d, unwound %d, version %d\n", caught, unwound, v);
}
