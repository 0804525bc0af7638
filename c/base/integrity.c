// HMAC-MD2 (RFC 2104 over RFC 1319) with the key the runtime library has built in.
#include "integrity.h"

#include <string.h>

// The substitution table of RFC 1319: a permutation made from the digits of pi.
static const uint8_t pi_subst[256] = {
    41, 46, 67, 201, 162, 216, 124, 1, 61, 54, 84, 161, 236, 240, 6, 19, 98, 167, 5, 243, 192, 199, 115, 140, 152, 147, 43, 217, 188, 76, 130, 202,
    30, 155, 87, 60, 253, 212, 224, 22, 103, 66, 111, 24, 138, 23, 229, 18, 190, 78, 196, 214, 218, 158, 222, 73, 160, 251, 245, 142, 187, 47, 238, 122,
    169, 104, 121, 145, 21, 178, 7, 63, 148, 194, 16, 137, 11, 34, 95, 33, 128, 127, 93, 154, 90, 144, 50, 39, 53, 62, 204, 231, 191, 247, 151, 3,
    255, 25, 48, 179, 72, 165, 181, 209, 215, 94, 146, 42, 172, 86, 170, 198, 79, 184, 56, 210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4, 241,
    69, 157, 112, 89, 100, 113, 135, 32, 134, 91, 207, 101, 230, 45, 168, 2, 27, 96, 37, 173, 174, 176, 185, 246, 28, 70, 97, 105, 52, 64, 126, 15,
    85, 71, 163, 35, 221, 81, 175, 58, 195, 92, 249, 206, 186, 197, 234, 38, 44, 83, 13, 110, 133, 40, 132, 9, 211, 223, 205, 244, 65, 129, 77, 82, 106,
    220, 55, 200, 108, 193, 171, 250, 36, 225, 123, 8, 12, 189, 177, 74, 120, 136, 149, 139, 227, 99, 232, 109, 233, 203, 213, 254, 59, 0, 29, 57, 242,
    239, 183, 14, 102, 88, 208, 228, 166, 119, 114, 248, 235, 117, 75, 10, 49, 68, 80, 180, 143, 237, 31, 26, 219, 153, 141, 51, 159, 17, 131, 20};

struct md2 {
	uint8_t state[48], sum[16], block[16];
	size_t fill;
};

static void compress(struct md2 *m, const uint8_t block[16]) {
	uint8_t last = m->sum[15];
	for (int i = 0; i < 16; i++)
		last = m->sum[i] ^= pi_subst[block[i] ^ last];
	for (int i = 0; i < 16; i++) {
		m->state[16 + i] = block[i];
		m->state[32 + i] = block[i] ^ m->state[i];
	}
	uint8_t t = 0;
	for (int round = 0; round < 18; round++) {
		for (int i = 0; i < 48; i++)
			t = m->state[i] ^= pi_subst[t];
		t = (uint8_t)(t + round);
	}
}

static void add(struct md2 *m, const void *data, size_t n) {
	const uint8_t *p = data;
	while (n--) {
		m->block[m->fill++] = *p++;
		if (m->fill == 16) {
			compress(m, m->block);
			m->fill = 0;
		}
	}
}

static void finish(struct md2 *m, uint8_t out[16]) {
	uint8_t pad[16], sum[16];
	memset(pad, (int)(16 - m->fill), sizeof pad);
	add(m, pad, 16 - m->fill);
	memcpy(sum, m->sum, sizeof sum);
	add(m, sum, sizeof sum);
	memcpy(out, m->state, 16);
}

static const uint8_t key[16] = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52, 0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};

static void begin(struct md2 *m, uint8_t mask) {
	uint8_t padded[16];
	memset(m, 0, sizeof *m);
	for (int i = 0; i < 16; i++)
		padded[i] = key[i] ^ mask;
	add(m, padded, sizeof padded);
}

void kz_integrity_answer(const struct kz_integrity *in, const struct kz_integrity_device *devices, size_t count, uint8_t out[16]) {
	static const uint64_t fixed[2][2] = {{0x3341181c03cb675c, 0x8ed383aa1f4cd1e8}, {0x1841181c03cb675c, 0x8ed383aa1f4cd1e8}};
	if (in->version % 10 < 2) { // the first two protocols have a fixed answer
		memcpy(out, fixed[in->version % 10], 16);
		return;
	}
	struct md2 m;
	uint8_t inner[16];
	begin(&m, 0x36);
	add(&m, in, sizeof *in);
	add(&m, devices, count * sizeof *devices);
	finish(&m, inner);
	begin(&m, 0x5c);
	add(&m, inner, sizeof inner);
	finish(&m, out);
}
