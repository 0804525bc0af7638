// A program that may have more rights than its user: says whether it has, and runs a kernel.
#include <sys/auxv.h>

#include "app.h"

int main(void) {
	App a;
	printf("secure %d\n", getauxval(AT_SECURE) != 0);
	int e = app_start(&a);
	if (!e) e = app_works(&a);
	printf("works %d\n", e);
	return 0;
}
