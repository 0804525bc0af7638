// Tiles of 64 to 512 threads: warps of a block that meet at a barrier in shared memory and exchange values there. Part of
// cooperative_groups.h.
#ifndef KUDZU_COOPERATIVE_GROUPS_LARGE_TILE_H
#define KUDZU_COOPERATIVE_GROUPS_LARGE_TILE_H
#pragma GCC system_header

#include "../cooperative_groups.h"

namespace cooperative_groups {
namespace __v1 {

namespace details {

// What a tile has in shared memory: its barrier, and 32 bytes a warp.
template <unsigned int Size> struct tile_room {
  unsigned long long barrier;
  alignas(16) unsigned char values[Size / 32][32];
};
template <unsigned int Size> KUDZU_CG tile_room<Size> &tile_room_of() {
  __shared__ tile_room<Size> all[1024 / Size];
  return all[thread_rank_in_block() / Size];
}

template <unsigned int Size> class tile_of<Size, true> {
  unsigned int meta_rank, meta_size;

 protected:
  KUDZU_CG tile_of(unsigned int r, unsigned int s) : meta_rank(r), meta_size(s) {}

 public:
  // The threads of the parent make the tiles together: none is at a barrier when it begins anew.
  template <class Parent> static KUDZU_CG void prepare(const Parent &g) {
    g.sync();
    if (thread_rank() == 0)
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier()), "r"(Size) : "memory");
    g.sync();
  }
  static KUDZU_CG constexpr unsigned int size() { return Size; }
  static KUDZU_CG constexpr unsigned int num_threads() { return Size; }
  static KUDZU_CG unsigned int thread_rank() { return thread_rank_in_block() % Size; }
  KUDZU_CG unsigned int meta_group_size() const { return meta_size; }
  KUDZU_CG unsigned int meta_group_rank() const { return meta_rank; }
  static KUDZU_CG void sync() {
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(barrier()) : "memory");
    for (unsigned int done = 0; !done;)
      asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(barrier()), "l"(token)
                   : "memory");
  }
  template <class T> KUDZU_CG T shfl(T v, int rank) const {
    return spread<T>(v, thread_rank() == (unsigned int)rank % Size, 0)[0];
  }
  KUDZU_CG int any(int p) const {
    int any = __any_sync(0xffffffffu, p), r = 0;
    shared_by_warps<int> all = each_warp(any);
    for (int v : all.values) r |= v;
    return r;
  }
  KUDZU_CG int all(int p) const { return !any(!p); }

  // One value of each warp, in their order.
  template <class T> struct shared_by_warps {
    T values[Size / 32];
    KUDZU_CG const T &operator[](unsigned int i) const { return values[i]; }
  };
  template <class T> static KUDZU_CG shared_by_warps<T> each_warp(const T &v, unsigned int from = 0) {
    return spread<T>(v, lane() == from, thread_rank() / 32);
  }

 private:
  static KUDZU_CG unsigned int barrier() { return (unsigned int)__cvta_generic_to_shared(&tile_room_of<Size>().barrier); }
  // Who gives puts its value at a place; all read every place.
  template <class T> static KUDZU_CG shared_by_warps<T> spread(const T &v, bool gives, unsigned int place) {
    static_assert(sizeof(T) <= 32, "a value of a tile has up to 32 bytes");
    tile_room<Size> &room = tile_room_of<Size>();
    if (gives) __builtin_memcpy(room.values[place], &v, sizeof v);
    sync();
    shared_by_warps<T> r;
    for (unsigned int i = 0; i < Size / 32; i++) __builtin_memcpy(&r.values[i], room.values[i], sizeof v);
    sync(); // before the next value
    return r;
  }
};

}  // namespace details

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
