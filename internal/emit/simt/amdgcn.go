package simt

import (
	"maps"
	"slices"
	"strings"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// amdgcn is AMD's GPUs.
type amdgcn struct {
	name string
}

var amdgcnTargets = map[string]amdgcn{}

func amdgcnNames() string { return strings.Join(slices.Sorted(maps.Keys(amdgcnTargets)), ", ") }

var (
	amdgcnOwn  [ir.NumOps]emitFn
	amdgcnWays [ir.NumOps]Way
)

func fillAMDGCN() {}

func (t amdgcn) triple() string                               { return "amdgcn-amd-amdhsa" }
func (t amdgcn) features() string                             { return "" }
func (t amdgcn) attributes() []string                         { return nil }
func (t amdgcn) trailer() string                              { return "" }
func (t amdgcn) pointers() bool                               { return false }
func (t amdgcn) own(op ir.Op) emitFn                          { return amdgcnOwn[op] }
func (t amdgcn) way(op ir.Op) Way                             { return amdgcnWays[op] }
func (t amdgcn) space(sp ir.Space) int                        { return 0 }
func (t amdgcn) head(e *emitter) string                       { return "" }
func (t amdgcn) param(e *emitter, off int, ty ir.Type) ll.Val { return ll.Val{} }
func (t amdgcn) paramAddr(e *emitter, off int) ll.Val         { return ll.Val{} }
func (t amdgcn) variable(e *emitter, in *ir.Inst) ll.Val      { return ll.Val{} }
func (t amdgcn) exit(e *emitter)                              {}
func (t amdgcn) frame(e *emitter, bytes, align int) ll.Val    { return ll.Val{} }
