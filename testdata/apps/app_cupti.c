// What CUPTI answers where nothing is measured: programs that start its records learn that they cannot, and those that only
// load it, ask for the version or end it go on.
#include <cupti.h>
#include <stdio.h>

int cuptiActivityEnable(unsigned kind);
int cuptiSubscribe(void **subscriber, void *callback, void *data);

static const char *text(int code) {
	const char *s = "no text";
	cuptiGetResultString(code, &s);
	return s;
}

int main(void) {
	uint32_t version = 0;
	uint64_t then = 0, now = 0;
	size_t dropped = 1;
	int supported = 1;
	void *record = 0;
	printf("version %d", cuptiGetVersion(&version));
	printf(" %u, no place: %s\n", version, text(cuptiGetVersion(0)));
	printf("enable: %s\n", text(cuptiActivityEnable(3)));
	printf("subscribe: %s\n", text(cuptiSubscribe(&record, 0, 0)));
	printf("next: %s\n", text(cuptiActivityGetNextRecord(0, 0, &record)));
	printf("disable %d, flush %d, last %d, end %d\n", cuptiActivityDisable(3), cuptiActivityFlushAll(0), cuptiGetLastError(), cuptiFinalize());
	printf("dropped %d", cuptiActivityGetNumDroppedRecords(0, 0, &dropped));
	printf(" %zu, supported %d", dropped, cuptiDeviceSupported(0, &supported));
	printf(" %d\n", supported);
	printf("time %d", cuptiGetTimestamp(&then));
	printf(" %d", cuptiGetTimestamp(&now));
	printf(" %s\n", then && now >= then ? "goes on" : "stands");
	printf("unknown code: %s, nvtx %d\n", text(12345), InitializeInjectionNvtx2(0));
	return 0;
}
