// Variables of ours, and what a program with more rights than its user does not take from it.
#define _GNU_SOURCE
#include "base.h"
#include "zsettings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

int kz_secure(void) { return getauxval(AT_SECURE) != 0; }

const char *kz_setting(const char *name) {
	static const struct {
		const char *name;
		int secure;
	} settings[] = {
#define ROW(name, secure) {#name, secure},
	    KZ_SETTINGS(ROW)
#undef ROW
	};
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (!strcmp(settings[i].name, name))
			return settings[i].secure ? getenv(name) : secure_getenv(name);
	return NULL;
}

const char *kz_environment(const char *name) { return secure_getenv(name); }

const char *kz_library_path(void) { return secure_getenv("LD_LIBRARY_PATH"); }
