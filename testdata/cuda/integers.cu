// test<<<1,1>>>(o[64]u64)
// Integer intrinsics, casts of bits, dot products, on values whose results follow from their definitions.
#include "check.h"

TEST() {
  volatile int one = 1; // keeps the compiler from folding
  u32 x = 0x12345678u * one, y = 0x9abcdef0u * one;
  EQ(__brev(x), 0x1e6a2c48u);
  EQ(__brevll(1ull * one), 1ull << 63);
  EQ(__clz(0 * one), 32);
  EQ(__clz(one), 31);
  EQ(__clz(-one), 0);
  EQ(__clzll(0ll * one), 64);
  EQ(__clzll(256ll * one), 55);
  EQ(__ffs(0 * one), 0);
  EQ(__ffs(48 * one), 5);
  EQ(__ffsll(0ll * one), 0);
  EQ(__ffsll((1ll << 40) * one), 41);
  EQ(__popc(x), 13);
  EQ(__popcll((u64)x << 32 | y), 32);
  EQ(__fns(0xf0u * one, 0u, 2), 5u);
  EQ(__fns(0xf0u * one, 7u, -2), 6u);
  EQ(__fns(0xf0u * one, 0u, 5), 0xffffffffu);
  EQ(__byte_perm(x, y, 0x7531), 0x9ade1256u);
  EQ(__byte_perm(x, y, 0x0088), 0x78787878u);
  EQ(__funnelshift_l(x, y, 8), 0xbcdef012u);
  EQ(__funnelshift_l(x, y, 40), 0xbcdef012u);
  EQ(__funnelshift_lc(x, y, 40), x);
  EQ(__funnelshift_r(x, y, 8), 0xf0123456u);
  EQ(__funnelshift_r(x, y, 32), x);
  EQ(__funnelshift_rc(x, y, 33), y);
  EQ(__mulhi((int)x, (int)y), (int)(((long long)(int)x * (int)y) >> 32));
  EQ(__umulhi(x, y), (u32)(((u64)x * y) >> 32));
  EQ(__mul64hi(-one, (long long)one << 62), -1ll);
  EQ(__umul64hi(~0ull * one, ~0ull), ~0ull - 1);
  EQ(__mul24(0xffffff * one, 2), -2);
  EQ(__umul24(0xff000003u * one, 4u), 12u);
  EQ(__hadd(-3 * one, 2), -1);
  EQ(__rhadd(-3 * one, 2), 0);
  EQ(__uhadd(0xffffffffu * one, 0xfffffffdu), 0xfffffffeu);
  EQ(__urhadd(0xffffffffu * one, 0xfffffffeu), 0xffffffffu);
  EQ(__sad(-5 * one, 7, 1u), 13u);
  EQ(__usad(5u * one, 7u, 1u), 3u);
  EQ(__dp4a(0x01ff0203 * one, 0x01010101, 10), 10 + 1 - 1 + 2 + 3);
  EQ(__dp4a(0x01ff0203u * one, 0x01010101u, 10u), 10u + 1 + 255 + 2 + 3);
  EQ(__dp4a(make_char4(one, -2, 3, -4), make_char4(5, 6, 7, 8), 0), 5 - 12 + 21 - 32);
  EQ(__dp4a(make_uchar4(one, 254, 3, 4), make_uchar4(5, 6, 7, 8), 0u), 5u + 1524 + 21 + 32);
  EQ(__dp2a_lo(make_short2(-300 * one, 2), make_char4(1, 2, 3, 4), 7), 7 - 300 + 4);
  EQ(__dp2a_hi(make_short2(-300 * one, 2), make_char4(1, 2, 3, 4), 7), 7 - 900 + 8);
  EQ(__dp2a_lo(make_ushort2(60000 * one, 2), make_uchar4(1, 2, 3, 4), 7u), 7u + 60000 + 4);
  EQ(__dp2a_hi(0x0002ea60u * one, 0x04030201u, 7u), 7u + 180000 + 8);
  EQ(__dp2a_lo(0x0002ffff * one, 0x04030201, 7), 7 - 1 + 4);
  EQ(__float_as_int(-2.0f * one), (int)0xc0000000);
  EQ(__float_as_uint(1.0f * one), 0x3f800000u);
  EQ(__int_as_float(0x40490fdb * one), 3.14159274f);
  EQ(__uint_as_float(0xbf800000u * one), -1.0f);
  EQ(__double_as_longlong(1.0 * one), 0x3ff0000000000000ll);
  EQ(__longlong_as_double(0x4000000000000000ll * one), 2.0);
  EQ(__double2hiint(1.0 * one), 0x3ff00000);
  EQ(__double2loint(0.1 * one), (int)0x9999999a);
  EQ(__hiloint2double(0x3ff00000 * one, 1), 1.0000000000000002);
  EQ(min(-one, 1), -1);
  EQ(max(-one, 1), 1);
  EQ(max(-one, 1u), 0xffffffffu);
  EQ(min(1u, -one), 1u);
  EQ(min(3ll * one, -4ll), -4ll);
  EQ(max(3ull * one, 4ull), 4ull);
  EQ(max(3l * one, 4l), 4l);
  EQ(abs(-3 * one), 3);
  EQ(abs(-3ll * one), 3ll);
  EQ(labs(-3l * one), 3l);
  EQ(llabs(-3ll * one), 3ll);
  EQ(umin(3u * one, 4u), 3u);
  EQ(umax(3u * one, 4u), 4u);
  EQ(llmin(-3ll * one, 4ll), -3ll);
  EQ(llmax(-3ll * one, 4ll), 4ll);
  EQ(ullmin(3ull * one, 4ull), 3ull);
  EQ(ullmax(3ull * one, 4ull), 4ull);
}
