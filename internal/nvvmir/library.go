package nvvmir

import _ "embed"

// Library is a module with what intrinsics of NVVM IR do that LLVM has in other forms.
//
//go:embed library.ll
var Library string

// Renamed are these intrinsics, and their functions in Library.
var Renamed = map[string]string{
	"llvm.nvvm.shfl.sync.i32":      "__kudzu_shfl_sync_i32",
	"llvm.nvvm.vote.sync":          "__kudzu_vote_sync",
	"llvm.nvvm.match.all.sync.i32": "__kudzu_match_all_sync_i32",
	"llvm.nvvm.match.all.sync.i64": "__kudzu_match_all_sync_i64",
}
