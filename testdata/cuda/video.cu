// test<<<1,1>>>(o[64]u64)
// SIMD video functions and DPX. Elements are chosen at the ends of their ranges.
#include "check.h"

#ifdef KUDZU_PRELUDE_H
#define PREDICATES(x) TRUE(x)
#else // built by nvcc 13.0, an H200 has them all the other way round from what the manual says
#define PREDICATES(x) (void)(x)
#endif

TEST() {
  volatile u32 one = 1;
  u32 a = 0x80017fffu * one, b = 0x7fff0002u * one; // halfwords -32767, 32767; 32767, 2
  EQ(__vabs2(0x8000ffffu * one), 0x80000001u);
  EQ(__vabsss2(0x8000ffffu * one), 0x7fff0001u);
  EQ(__vneg2(0x80000001u * one), 0x8000ffffu);
  EQ(__vnegss2(0x80000001u * one), 0x7fffffffu);
  EQ(__vadd2(a, b), 0x00008001u);
  EQ(__vaddss2(a, b), 0x00007fffu);
  EQ(__vaddus2(a, b), 0xffff8001u);
  EQ(__vsub2(a, b), 0x00027ffdu);
  EQ(__vsubss2(a, b), 0x80007ffdu);
  EQ(__vsubus2(b, a), 0x00000000u);
  EQ(__vabsdiffs2(a, b), 0xfffe7ffdu);
  EQ(__vabsdiffu2(a, b), 0x00027ffdu);
  EQ(__vavgs2(0x0003fffdu * one, 0x0004fffeu * one), 0x0004fffdu);
  EQ(__vavgu2(0x0003fffdu * one, 0x0004fffeu * one), 0x0004fffeu);
  EQ(__vhaddu2(0x0003fffdu * one, 0x0004fffeu * one), 0x0003fffdu);
  EQ(__vmaxs2(a, b), 0x7fff7fffu);
  EQ(__vmaxu2(a, b), 0x80017fffu);
  EQ(__vmins2(a, b), 0x80010002u);
  EQ(__vminu2(a, b), 0x7fff0002u);
  EQ(__vcmpeq2(a, 0x80010000u), 0xffff0000u);
  EQ(__vcmpne2(a, 0x80010000u), 0x0000ffffu);
  EQ(__vcmpges2(a, b), 0x0000ffffu);
  EQ(__vcmpgeu2(a, b), 0xffffffffu);
  EQ(__vcmpgts2(a, b), 0x0000ffffu);
  EQ(__vcmpgtu2(a, b), 0xffffffffu);
  EQ(__vcmples2(a, b), 0xffff0000u);
  EQ(__vcmpleu2(a, b), 0x00000000u);
  EQ(__vcmplts2(a, b), 0xffff0000u);
  EQ(__vcmpltu2(a, b), 0x00000000u);
  EQ(__vseteq2(a, 0x80010000u), 0x00010000u);
  EQ(__vsetne2(a, 0x80010000u), 0x00000001u);
  EQ(__vsetges2(a, b), 0x00000001u);
  EQ(__vsetgeu2(a, b), 0x00010001u);
  EQ(__vsetgts2(a, b), 0x00000001u);
  EQ(__vsetgtu2(a, b), 0x00010001u);
  EQ(__vsetles2(a, b), 0x00010000u);
  EQ(__vsetleu2(a, b), 0x00000000u);
  EQ(__vsetlts2(a, b), 0x00010000u);
  EQ(__vsetltu2(a, b), 0x00000000u);
  EQ(__vsads2(a, b), 0xfffeu + 0x7ffdu);
  EQ(__vsadu2(a, b), 2u + 0x7ffdu);

  u32 c = 0x80ff7f01u * one, d = 0x7f02ff01u * one;
  EQ(__vabs4(c), 0x80017f01u);
  EQ(__vabsss4(c), 0x7f017f01u);
  EQ(__vneg4(c), 0x800181ffu);
  EQ(__vnegss4(c), 0x7f0181ffu);
  EQ(__vadd4(c, d), 0xff017e02u);
  EQ(__vaddss4(c, d), 0xff017e02u);
  EQ(__vaddus4(c, d), 0xffffff02u);
  EQ(__vsub4(c, d), 0x01fd8000u);
  EQ(__vsubss4(c, d), 0x80fd7f00u);
  EQ(__vsubus4(c, d), 0x01fd0000u);
  EQ(__vabsdiffs4(c, d), 0xff038000u);
  EQ(__vabsdiffu4(c, d), 0x01fd8000u);
  EQ(__vavgs4(c, d), 0xff013f01u);
  EQ(__vavgu4(c, d), 0x8081bf01u);
  EQ(__vhaddu4(c, d), 0x7f80bf01u);
  EQ(__vmaxs4(c, d), 0x7f027f01u);
  EQ(__vmaxu4(c, d), 0x80ffff01u);
  EQ(__vmins4(c, d), 0x80ffff01u);
  EQ(__vminu4(c, d), 0x7f027f01u);
  EQ(__vcmpeq4(c, d), 0x000000ffu);
  EQ(__vcmpne4(c, d), 0xffffff00u);
  EQ(__vcmpges4(c, d), 0x0000ffffu);
  EQ(__vcmpgeu4(c, d), 0xffff00ffu);
  EQ(__vcmpgts4(c, d), 0x0000ff00u);
  EQ(__vcmpgtu4(c, d), 0xffff0000u);
  EQ(__vcmples4(c, d), 0xffff00ffu);
  EQ(__vcmpleu4(c, d), 0x0000ffffu);
  EQ(__vcmplts4(c, d), 0xffff0000u);
  EQ(__vcmpltu4(c, d), 0x0000ff00u);
  EQ(__vseteq4(c, d), 0x00000001u);
  EQ(__vsetne4(c, d), 0x01010100u);
  EQ(__vsetges4(c, d), 0x00000101u);
  EQ(__vsetgeu4(c, d), 0x01010001u);
  EQ(__vsetgts4(c, d), 0x00000100u);
  EQ(__vsetgtu4(c, d), 0x01010000u);
  EQ(__vsetles4(c, d), 0x01010001u);
  EQ(__vsetleu4(c, d), 0x00000101u);
  EQ(__vsetlts4(c, d), 0x01010000u);
  EQ(__vsetltu4(c, d), 0x00000100u);
  EQ(__vsads4(c, d), 255u + 3 + 128 + 0);
  EQ(__vsadu4(c, d), 1u + 253 + 128 + 0);

  int n = -5 * (int)one;
  bool p, q;
  EQ(__viaddmax_s32(n, 2, -4), -3);
  EQ(__viaddmin_s32(n, 2, -4), -4);
  EQ(__viaddmax_u32(4u * one, 2u, 5u), 6u);
  EQ(__viaddmin_u32(4u * one, 2u, 5u), 5u);
  EQ(__viaddmax_s32_relu(n, 2, -4), 0);
  EQ(__viaddmin_s32_relu(n, 2, -4), 0);
  EQ(__vimax3_s32(n, 2, -4), 2);
  EQ(__vimin3_s32(n, 2, -4), -5);
  EQ(__vimax3_u32(1u * one, 9u, 3u), 9u);
  EQ(__vimin3_u32(1u * one, 9u, 3u), 1u);
  EQ(__vimax3_s32_relu(n, -2, -4), 0);
  EQ(__vimin3_s32_relu(n, 2, 4), 0);
  EQ(__vimax_s32_relu(n, -2), 0);
  EQ(__vimin_s32_relu(7 * (int)one, 2), 2);
  EQ(__vibmax_s32(n, 2, &p), 2);
  EQ(p, false);
  EQ(__vibmin_s32(n, 2, &p), -5);
  EQ(p, true);
  EQ(__vibmax_u32(4u * one, 4u, &p), 4u);
  EQ(p, true);
  EQ(__vibmin_u32(4u * one, 3u, &p), 3u);
  EQ(p, false);
  EQ(__vimax3_s16x2(a, b, 0u), 0x7fff7fffu);
  EQ(__vimin3_s16x2(a, b, 0u), 0x80010000u);
  EQ(__vimax3_u16x2(a, b, 0u), 0x80017fffu);
  EQ(__vimin3_u16x2(a, b, 0x1u), 0x00000001u);
  EQ(__vimax3_s16x2_relu(0xffffffffu * one, 0x80000001u, 0xfffefffeu), 0x00000001u);
  EQ(__vimin3_s16x2_relu(a, b, 0x00010001u), 0x00000001u);
  EQ(__vimax_s16x2_relu(0xffff0003u * one, 0xfffe0001u), 0x00000003u);
  EQ(__vimin_s16x2_relu(0xffff0003u * one, 0xfffe0001u), 0x00000001u);
  EQ(__viaddmax_s16x2(a, b, 0x00050000u), 0x00050000u);
  EQ(__viaddmin_s16x2(a, b, 0x00050000u), 0x00008001u);
  EQ(__viaddmax_u16x2(a, b, 0x00050000u), 0x00058001u);
  EQ(__viaddmin_u16x2(a, b, 0x00050007u), 0x00000007u);
  EQ(__viaddmax_s16x2_relu(a, b, 0xfffffffeu), 0x00000000u);
  EQ(__viaddmin_s16x2_relu(a, b, 0x00050007u), 0x00000000u);
  EQ(__vibmax_s16x2(a, b, &p, &q), 0x7fff7fffu);
  PREDICATES(!p && q);
  EQ(__vibmin_s16x2(a, b, &p, &q), 0x80010002u);
  PREDICATES(p && !q);
  EQ(__vibmax_u16x2(a, b, &p, &q), 0x80017fffu);
  PREDICATES(p && q);
  EQ(__vibmin_u16x2(a, b, &p, &q), 0x7fff0002u);
  PREDICATES(!p && !q);
}
