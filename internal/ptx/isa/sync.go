package isa

// PTX ISA, "Parallel Synchronization and Communication Instructions": barriers and fences.
func syncForms() []Form {
	return []Form{
		{Op: Barrier, Syntax: "barrier{.cta}.sync{.aligned}  a{, b}", Types: "a=u32 b=u32", PTX: v(6, 0), SM: 30},
		{Op: Barrier, Syntax: "barrier{.cta}.arrive{.aligned}  a, b", Types: "a=u32 b=u32", PTX: v(6, 0), SM: 30},
		{Op: Barrier, Syntax: "barrier{.cta}.red.op{.aligned}.u32  d, a{, b}, {!}c", Sets: op(".popc"), Types: "d=u32 a=u32 b=u32 c=pred", PTX: v(6, 0), SM: 30},
		{Op: Barrier, Syntax: "barrier{.cta}.red.op{.aligned}.pred  d, a{, b}, {!}c", Sets: op(".and", ".or"), Types: "d=pred a=u32 b=u32 c=pred", PTX: v(6, 0), SM: 30},
		{Op: Bar, Syntax: "bar{.cta}.sync  a{, b}", Types: "a=u32 b=u32", PTX: v(1, 0)},
		{Op: Bar, Syntax: "bar{.cta}.arrive  a, b", Types: "a=u32 b=u32", PTX: v(2, 0), SM: 20},
		{Op: Bar, Syntax: "bar{.cta}.red.op.u32  d, a{, b}, {!}c", Sets: op(".popc"), Types: "d=u32 a=u32 b=u32 c=pred", PTX: v(2, 0), SM: 20},
		{Op: Bar, Syntax: "bar{.cta}.red.op.pred  d, a{, b}, {!}c", Sets: op(".and", ".or"), Types: "d=pred a=u32 b=u32 c=pred", PTX: v(2, 0), SM: 20},
		{Op: BarWarpSync, Syntax: "bar.warp.sync  membermask", PTX: v(6, 0), SM: 30},
		{Op: BarrierCluster, Syntax: "barrier.cluster.arrive{.sem}{.aligned}", Sets: sem(".release", ".relaxed"), PTX: v(7, 8), SM: 90},
		{Op: BarrierCluster, Syntax: "barrier.cluster.wait{.sem}{.aligned}", Sets: sem(".acquire"), PTX: v(7, 8), SM: 90},
		{Op: Membar, Syntax: "membar.level", Sets: set("level", ".cta", ".gl", ".sys"), PTX: v(1, 4)},
		{Op: Membar, Syntax: "membar.proxy.proxykind", Sets: proxyKind, PTX: v(7, 5), SM: 70},
		{Op: Fence, Syntax: "fence{.sem}.scope", Sets: with(sem(".sc", ".acq_rel"), scopes), PTX: v(6, 0), SM: 70},
		{Op: Fence, Syntax: "fence.sem.scope", Sets: with(sem(".acquire", ".release"), scopes), PTX: v(8, 6), SM: 90},
		{Op: Fence, Syntax: "fence.acquire.sync_restrict::shared::cluster.cluster", PTX: v(8, 6), SM: 90},
		{Op: Fence, Syntax: "fence.release.sync_restrict::shared::cta.cluster", PTX: v(8, 6), SM: 90},
		{Op: Fence, Syntax: "fence.op_restrict.release.cluster", Sets: set("op_restrict", ".mbarrier_init"), PTX: v(8, 0), SM: 90},
		{Op: Fence, Syntax: "fence.proxy.proxykind", Sets: proxyKind, PTX: v(7, 5), SM: 70},
		{Op: Fence, Syntax: "fence.proxy.async.space", Sets: space(".global", ".shared::cta", ".shared::cluster"), PTX: v(8, 0), SM: 90},
		{Op: Fence, Syntax: "fence.proxy.proxykind.sem.scope", Sets: with(set("proxykind", ".tensormap::generic"), sem(".release"), scopes), PTX: v(8, 3), SM: 90},
		{Op: Fence, Syntax: "fence.proxy.proxykind.sem.scope  [a], size", Sets: with(set("proxykind", ".tensormap::generic"), sem(".acquire"), scopes), Types: "size=#u32:128..128", PTX: v(8, 3), SM: 90},
		{Op: Fence, Syntax: "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", PTX: v(8, 6), SM: 90},
		{Op: Fence, Syntax: "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", PTX: v(8, 6), SM: 90},
		{Op: Griddepcontrol, Syntax: "griddepcontrol.action", Sets: set("action", ".launch_dependents", ".wait"), PTX: v(7, 8), SM: 90},
	}
}
