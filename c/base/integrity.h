// The check NVIDIA's runtime library makes of its driver before it trusts it.
#ifndef KZ_INTEGRITY_H
#define KZ_INTEGRITY_H

#include <stddef.h>
#include <stdint.h>

struct kz_integrity { // the first 48 bytes of the message
	uint32_t driver_version, version, pid, tid;
	uint64_t runtime_table, integrity_table, function, seconds;
};

struct kz_integrity_device { // one a device, after it
	uint8_t uuid[16];
	int32_t domain, bus, device;
};

// kz_integrity_answer computes the sixteen bytes the runtime expects.
void kz_integrity_answer(const struct kz_integrity *in, const struct kz_integrity_device *devices, size_t count, uint8_t out[16]);

#endif
