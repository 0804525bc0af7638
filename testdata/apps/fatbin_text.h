// A container with the text `ptx` for the architecture PTX_SM, and its wrapper, as compilers write them into programs.
static struct {
	unsigned magic;
	unsigned short version, header;
	unsigned long long bytes;
	unsigned short kind, attributes;
	unsigned head;
	unsigned long long size;
	unsigned rest[12];
	char text[sizeof ptx];
} fatbin = {0xba55ed50, 1, 16, 64 + sizeof ptx, 1, 0x101, 64, sizeof ptx, {0, 0, PTX_SM}, ""};

static const struct {
	int magic, version;
	const void *data;
	void *extra;
} wrapper = {0x466243b1, 1, &fatbin, 0};
