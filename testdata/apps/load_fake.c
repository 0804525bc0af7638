// A libcuda.so.1 that is not ours, and a library that is nobody's but the program's.
int cuDriverGetVersion(int *version) {
	*version = 1;
	return 0;
}
int own(void) { return 7; }
