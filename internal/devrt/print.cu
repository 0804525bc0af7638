// vprintf: the format, then what it takes, as a record. devrt.Format reads it with the same rules.
#include "devrt.h"

// args is the program's list, each argument at its natural alignment.
LOCAL u64 take(const u8 **args, u32 size) {
	u64 a = ((u64)*args + size - 1) & ~(u64)(size - 1);
	*args = (const u8 *)(a + size);
	return size == 8 ? *(const u64 *)a : *(const u32 *)a;
}

LOCAL const char *number(struct out *o, const char *p, const u8 **args) {
	if (*p == '*') {
		bytes(o, take(args, 4), 8);
		return p + 1;
	}
	while (*p >= '0' && *p <= '9') p++;
	return p;
}

// walk goes over the format and puts out each argument in 8 bytes, strings with their text. It returns how many there were.
LOCAL int walk(struct out *o, const char *format, const u8 *args) {
	int n = 0;
	text(o, format);
	for (const char *p = format; *p;) {
		if (*p++ != '%') continue;
		while (*p == '-' || *p == '+' || *p == ' ' || *p == '#' || *p == '0') p++;
		if (*p == '*') n++;
		p = number(o, p, &args);
		if (*p == '.') {
			if (p[1] == '*') n++;
			p = number(o, p + 1, &args);
		}
		bool wide = false;
		for (; *p == 'h' || *p == 'l' || *p == 'L' || *p == 'q' || *p == 'j' || *p == 'z' || *p == 't'; p++) wide = wide || *p != 'h';
		char c = *p;
		if (!c) break; // an incomplete conversion
		p++;
		switch (c) {
		case 'd': case 'i': case 'u': case 'o': case 'x': case 'X':
			bytes(o, take(&args, wide ? 8 : 4), 8);
			n++;
			break;
		case 'c':
			bytes(o, take(&args, 4), 8);
			n++;
			break;
		case 's': {
			u64 s = take(&args, 8);
			byte(o, s != 0);
			if (s) text(o, (const char *)s);
			n++;
			break;
		}
		case 'p': case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
			bytes(o, take(&args, 8), 8);
			n++;
			break;
		}
	}
	return n;
}

DEVICE int vprintf(const char *format, const void *list) {
	if (!format) return -1;
	struct out o = {0, HEAD, false};
	walk(&o, format, (const u8 *)list);
	u32 n = (o.n + 7) & ~7u;
	u32 at = reserve(n);
	if (at == ~0u) return -2;
	o.at = at;
	o.n = HEAD;
	o.writes = true;
	int count = walk(&o, format, (const u8 *)list);
	publish(at, n, PRINT);
	return count;
}
