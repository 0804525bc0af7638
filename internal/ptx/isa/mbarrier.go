package isa

// PTX ISA, "mbarrier" and "clusterlaunchcontrol".
func mbarrierForms() []Form {
	return []Form{
		{Op: MbarrierInit, Syntax: "mbarrier.init{.space}.b64  [a], count", Sets: sharedCta, Types: "count=u32", PTX: v(7, 0), SM: 80},
		{Op: MbarrierInval, Syntax: "mbarrier.inval{.space}.b64  [a]", Sets: sharedCta, PTX: v(7, 0), SM: 80},
		{Op: MbarrierExpectTx, Syntax: "mbarrier.expect_tx{.sem}{.scope}{.space}.b64  [a], count", Sets: with(sem(".relaxed"), scope(".cta", ".cluster"), space(".shared", ".shared::cta", ".shared::cluster")), Types: "count=u32", PTX: v(8, 0), SM: 90},
		{Op: MbarrierCompleteTx, Syntax: "mbarrier.complete_tx{.sem}{.scope}{.space}.b64  [a], count", Sets: with(sem(".relaxed"), scope(".cta", ".cluster"), space(".shared", ".shared::cta", ".shared::cluster")), Types: "count=u32", PTX: v(8, 0), SM: 90},
		{Op: MbarrierArrive, Syntax: "mbarrier.arrive{.sem}{.scope}{.space}.b64  d, [a]{, count}", Sets: with(sem(".release", ".relaxed"), scope(".cta", ".cluster"), sharedCta), Types: "d=b64 count=u32", PTX: v(7, 0), SM: 80},
		{Op: MbarrierArrive, Syntax: "mbarrier.arrive{.sem}{.scope}.space.b64  d, [a]{, count}", Sets: with(sem(".release", ".relaxed"), scope(".cta", ".cluster"), space(".shared::cluster")), Types: "d=sink count=u32", PTX: v(8, 0), SM: 90},
		{Op: MbarrierArrive, Syntax: "mbarrier.arrive.expect_tx{.sem}{.scope}{.space}.b64  d, [a], count", Sets: with(sem(".release", ".relaxed"), scope(".cta", ".cluster"), sharedCta), Types: "d=b64 count=u32", PTX: v(8, 0), SM: 90},
		{Op: MbarrierArrive, Syntax: "mbarrier.arrive.expect_tx{.sem}{.scope}.space.b64  d, [a], count", Sets: with(sem(".release", ".relaxed"), scope(".cta", ".cluster"), space(".shared::cluster")), Types: "d=sink count=u32", PTX: v(8, 0), SM: 90},
		{Op: MbarrierArrive, Syntax: "mbarrier.arrive.noComplete{.sem}{.scope}{.space}.b64  d, [a], count", Sets: with(sem(".release"), scope(".cta"), sharedCta), Types: "d=b64 count=u32", PTX: v(7, 0), SM: 80},
		{Op: MbarrierArriveDrop, Syntax: "mbarrier.arrive_drop{.sem}{.scope}{.space}.b64  d, [a]{, count}", Sets: with(sem(".release", ".relaxed"), scope(".cta", ".cluster"), sharedCta), Types: "d=b64 count=u32", PTX: v(7, 0), SM: 80},
		{Op: MbarrierArriveDrop, Syntax: "mbarrier.arrive_drop{.sem}{.scope}.space.b64  d, [a]{, count}", Sets: with(sem(".release", ".relaxed"), scope(".cta", ".cluster"), space(".shared::cluster")), Types: "d=sink count=u32", PTX: v(8, 0), SM: 90},
		{Op: MbarrierArriveDrop, Syntax: "mbarrier.arrive_drop.expect_tx{.sem}{.scope}{.space}.b64  d, [a], count", Sets: with(sem(".release", ".relaxed"), scope(".cta", ".cluster"), sharedCta), Types: "d=b64 count=u32", PTX: v(8, 0), SM: 90},
		{Op: MbarrierArriveDrop, Syntax: "mbarrier.arrive_drop.expect_tx{.sem}{.scope}.space.b64  d, [a], count", Sets: with(sem(".release", ".relaxed"), scope(".cta", ".cluster"), space(".shared::cluster")), Types: "d=sink count=u32", PTX: v(8, 0), SM: 90},
		{Op: MbarrierArriveDrop, Syntax: "mbarrier.arrive_drop.noComplete{.sem}{.scope}{.space}.b64  d, [a], count", Sets: with(sem(".release"), scope(".cta"), sharedCta), Types: "d=b64 count=u32", PTX: v(7, 0), SM: 80},
		{Op: MbarrierTestWait, Syntax: "mbarrier.test_wait{.sem}{.scope}{.space}.b64  p, [a], state", Sets: with(sem(".acquire", ".relaxed"), scope(".cta", ".cluster"), sharedCta), Types: "state=b64", PTX: v(7, 0), SM: 80},
		{Op: MbarrierTestWait, Syntax: "mbarrier.test_wait.parity{.sem}{.scope}{.space}.b64  p, [a], parity", Sets: with(sem(".acquire", ".relaxed"), scope(".cta", ".cluster"), sharedCta), Types: "parity=u32:0..1", PTX: v(7, 1), SM: 80},
		{Op: MbarrierTryWait, Syntax: "mbarrier.try_wait{.sem}{.scope}{.space}.b64  p, [a], state{, hint}", Sets: with(sem(".acquire", ".relaxed"), scope(".cta", ".cluster"), sharedCta), Types: "state=b64 hint=u32", PTX: v(7, 8), SM: 90},
		{Op: MbarrierTryWait, Syntax: "mbarrier.try_wait.parity{.sem}{.scope}{.space}.b64  p, [a], parity{, hint}", Sets: with(sem(".acquire", ".relaxed"), scope(".cta", ".cluster"), sharedCta), Types: "parity=u32:0..1 hint=u32", PTX: v(7, 8), SM: 90},
		{Op: MbarrierPendingCount, Syntax: "mbarrier.pending_count.b64  d, state", Types: "d=u32 state=b64", PTX: v(7, 0), SM: 80},
		{Op: ClusterlaunchcontrolTryCancel, Syntax: "clusterlaunchcontrol.try_cancel.async{.space}.completion{.multicast::cluster::all}.b128  [a], [mbar]", Sets: with(space(".shared::cta"), tx), PTX: v(8, 6), SM: 100},
		{Op: ClusterlaunchcontrolQueryCancel, Syntax: "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128  p, a", Types: "a=b128", PTX: v(8, 6), SM: 100},
		{Op: ClusterlaunchcontrolQueryCancel, Syntax: "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  d, a", Types: "d=$4b32 a=b128", PTX: v(8, 6), SM: 100},
		{Op: ClusterlaunchcontrolQueryCancel, Syntax: "clusterlaunchcontrol.query_cancel.dim.b32.b128  d, a", Sets: set("dim", ".get_first_ctaid::x", ".get_first_ctaid::y", ".get_first_ctaid::z"), Types: "d=b32~ a=b128", PTX: v(8, 6), SM: 100},
	}
}
