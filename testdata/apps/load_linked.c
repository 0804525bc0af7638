// A program that needs libcuda.so.1 the ordinary way, and a library of its own.
#include <stdio.h>
int cuDriverGetVersion(int *version);
int own_one(void);

int main(void) {
	int version = 0;
	cuDriverGetVersion(&version);
	printf("%s %d\n", version == 1 ? "fake" : "ours", own_one());
	return version == 1 || version >= 12000 ? 0 : 1;
}
