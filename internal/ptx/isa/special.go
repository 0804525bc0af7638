package isa

import "sync"

// SReg is a special register, named in the manual's chapter "Special Registers".
type SReg uint8

// The special registers. The families %pm, %pm_64 and %envreg are runs of constants: SRegPm0+3 is %pm3.
const (
	NoSReg SReg = iota
	SRegTid
	SRegNtid
	SRegLaneid
	SRegWarpid
	SRegNwarpid
	SRegCtaid
	SRegNctaid
	SRegSmid
	SRegNsmid
	SRegGridid
	SRegIsExplicitCluster
	SRegClusterid
	SRegNclusterid
	SRegClusterCtaid
	SRegClusterNctaid
	SRegClusterCtarank
	SRegClusterNctarank
	SRegLanemaskEq
	SRegLanemaskLe
	SRegLanemaskLt
	SRegLanemaskGe
	SRegLanemaskGt
	SRegClock
	SRegClockHi
	SRegClock64
	SRegGlobaltimer
	SRegGlobaltimerLo
	SRegGlobaltimerHi
	SRegReservedSmemOffsetBegin
	SRegReservedSmemOffsetEnd
	SRegReservedSmemOffsetCap
	SRegReservedSmemOffset0
	SRegReservedSmemOffset1
	SRegTotalSmemSize
	SRegAggrSmemSize
	SRegDynamicSmemSize
	SRegCurrentGraphExec
	SRegPm0
	SRegPm0x64  = SRegPm0 + 8
	SRegEnvreg0 = SRegPm0x64 + 8
	NumSRegs    = SRegEnvreg0 + 32
)

// SpecialReg is what the table knows about a special register.
type SpecialReg struct {
	Name string // with the %
	Type Type
	Vec  bool // has .x .y .z .w
	PTX  Version
	SM   int
}

var sregs = sync.OnceValue(func() *[NumSRegs]SpecialReg {
	t := &[NumSRegs]SpecialReg{
		SRegTid:                     {"%tid", U32, true, v(1, 0), 0},
		SRegNtid:                    {"%ntid", U32, true, v(1, 0), 0},
		SRegLaneid:                  {"%laneid", U32, false, v(1, 3), 0},
		SRegWarpid:                  {"%warpid", U32, false, v(1, 3), 0},
		SRegNwarpid:                 {"%nwarpid", U32, false, v(2, 0), 20},
		SRegCtaid:                   {"%ctaid", U32, true, v(1, 0), 0},
		SRegNctaid:                  {"%nctaid", U32, true, v(1, 0), 0},
		SRegSmid:                    {"%smid", U32, false, v(1, 3), 0},
		SRegNsmid:                   {"%nsmid", U32, false, v(2, 0), 20},
		SRegGridid:                  {"%gridid", U64, false, v(1, 0), 0},
		SRegIsExplicitCluster:       {"%is_explicit_cluster", Pred, false, v(7, 8), 90},
		SRegClusterid:               {"%clusterid", U32, true, v(7, 8), 90},
		SRegNclusterid:              {"%nclusterid", U32, true, v(7, 8), 90},
		SRegClusterCtaid:            {"%cluster_ctaid", U32, true, v(7, 8), 90},
		SRegClusterNctaid:           {"%cluster_nctaid", U32, true, v(7, 8), 90},
		SRegClusterCtarank:          {"%cluster_ctarank", U32, false, v(7, 8), 90},
		SRegClusterNctarank:         {"%cluster_nctarank", U32, false, v(7, 8), 90},
		SRegLanemaskEq:              {"%lanemask_eq", U32, false, v(2, 0), 20},
		SRegLanemaskLe:              {"%lanemask_le", U32, false, v(2, 0), 20},
		SRegLanemaskLt:              {"%lanemask_lt", U32, false, v(2, 0), 20},
		SRegLanemaskGe:              {"%lanemask_ge", U32, false, v(2, 0), 20},
		SRegLanemaskGt:              {"%lanemask_gt", U32, false, v(2, 0), 20},
		SRegClock:                   {"%clock", U32, false, v(1, 0), 0},
		SRegClockHi:                 {"%clock_hi", U32, false, v(5, 0), 20},
		SRegClock64:                 {"%clock64", U64, false, v(2, 0), 20},
		SRegGlobaltimer:             {"%globaltimer", U64, false, v(3, 1), 30},
		SRegGlobaltimerLo:           {"%globaltimer_lo", U32, false, v(3, 1), 30},
		SRegGlobaltimerHi:           {"%globaltimer_hi", U32, false, v(3, 1), 30},
		SRegReservedSmemOffsetBegin: {"%reserved_smem_offset_begin", B32, false, v(7, 6), 80},
		SRegReservedSmemOffsetEnd:   {"%reserved_smem_offset_end", B32, false, v(7, 6), 80},
		SRegReservedSmemOffsetCap:   {"%reserved_smem_offset_cap", B32, false, v(7, 6), 80},
		SRegReservedSmemOffset0:     {"%reserved_smem_offset_0", B32, false, v(7, 6), 80},
		SRegReservedSmemOffset1:     {"%reserved_smem_offset_1", B32, false, v(7, 6), 80},
		SRegTotalSmemSize:           {"%total_smem_size", U32, false, v(4, 1), 20},
		SRegAggrSmemSize:            {"%aggr_smem_size", U32, false, v(8, 1), 90},
		SRegDynamicSmemSize:         {"%dynamic_smem_size", U32, false, v(4, 1), 20},
		SRegCurrentGraphExec:        {"%current_graph_exec", U64, false, v(8, 0), 50},
	}
	for i := range 8 {
		pm := SpecialReg{"%pm" + string(rune('0'+i)), U32, false, v(1, 3), 0}
		if i >= 4 {
			pm.PTX, pm.SM = v(3, 0), 20
		}
		t[SRegPm0+SReg(i)] = pm
		t[SRegPm0x64+SReg(i)] = SpecialReg{"%pm" + string(rune('0'+i)) + "_64", U64, false, v(4, 0), 50}
	}
	for i := range 32 {
		n := string(rune('0' + i%10))
		if i >= 10 {
			n = string(rune('0'+i/10)) + n
		}
		t[SRegEnvreg0+SReg(i)] = SpecialReg{"%envreg" + n, B32, false, v(2, 1), 0}
	}
	return t
})

var sregNames = sync.OnceValue(func() map[string]SReg {
	m := make(map[string]SReg, NumSRegs)
	for r := NoSReg + 1; r < NumSRegs; r++ {
		m[r.Row().Name] = r
	}
	return m
})

// SRegOf finds a special register by its name with the %; NoSReg if there is none.
func SRegOf(name string) SReg { return sregNames()[name] }

// Row is what the table knows about the register.
func (r SReg) Row() *SpecialReg { return &sregs()[r] }

// String is the register's name with the %.
func (r SReg) String() string { return r.Row().Name }

// Type is the type of the register, or of its elements.
func (r SReg) Type() Type { return r.Row().Type }

// Vec reports a register with elements .x .y .z .w.
func (r SReg) Vec() bool { return r.Row().Vec }
