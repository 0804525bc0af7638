// What the Go image keeps in memory after a start: not its relocations, which are the first of its mappings and were read once. Where the
// page cache has the file in huge pages, one access maps 2 MiB of it, which takes no memory: that does not count.
#include "app.h"

int main(void) {
	App app;
	OK(app_start(&app));
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[4096];
	long size = 0, resident = -1, huge = -1;
	while (f && huge < 0 && fgets(line, sizeof line, f)) {
		if (strstr(line, "/libkudzu.so")) size = -1;
		if (size < 0 && sscanf(line, "Size: %ld", &size) == 1 && size == 0) size = -1;
		if (size > 0) sscanf(line, "Rss: %ld", &resident);
		if (size > 0) sscanf(line, "FilePmdMapped: %ld", &huge);
	}
	if (huge > 0) resident -= huge;
	if (f) fclose(f);
	if (resident < 0 || resident > size / 2) {
		printf("%ld of %ld KiB are resident\n", resident, size);
		failures++;
	}
	return finish();
}
