// Watches devices and has none work, as monitors do.
#include <nvml.h>

int main(void) {
	unsigned n;
	return nvmlInit_v2() || nvmlDeviceGetCount_v2(&n) || n < 1;
}
