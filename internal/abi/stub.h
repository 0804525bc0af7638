// The stubs of one interface, KZ_API with the rows KZ_ROWS: a function packs its arguments and calls the door with its row's
// number. There is one for every row; each major version's jump table points at it. KZ_RUNTIME is KZ_DOOR_RUNTIME or 0.
#define plain kz_door
#define ends kz_door_ends
#define launch kz_door_launch
#define launch_runtime kz_door_launch_runtime
#define wait kz_door_wait
#define wait_all kz_door_wait_all
#define query kz_door_query
#define device kz_door_device
#define set_device kz_door_set_device
#define primary kz_door_primary
#define capture kz_door_capture
#define all_reduce kz_door_all_reduce
#define reduce_scatter kz_door_reduce_scatter
#define reduce kz_door_reduce
#define broadcast kz_door_broadcast
#define all_gather kz_door_all_gather
#define library(id, flag, args) kz_door_library(id, flag, args, sizeof *(args))
#define GO(in, slot, name, signature, door, shape, sum) STUB_##signature(KZ_STUB(slot), door, KZ_CALL(slot), KZ_RUNTIME)
#define VARIANT(in, slot, name, row, signature, door, shape, sum) \
	STUB_##signature(KZ_STUB(slot), door, KZ_CALL(row), (KZ_RUNTIME | KZ_THREAD_PER_THREAD))
#include "rows.inc"

void *const KZ_JOIN(kz_stubs_, KZ_API, )[] = {
#define GO(in, slot, name, signature, door, shape, sum) KZ_STUB(slot),
#define VARIANT(in, slot, name, row, signature, door, shape, sum) KZ_STUB(slot),
#define BASE(in, slot, name, entry, shape, sum) 0,
#define EACH(in, slot, name, entry, shape, sum) 0,
#define NONE(in, slot, name, shape, sum) 0,
#include "rows.inc"
};
