package main

import (
	"go/ast"
	"strings"

	"kudzu/internal/spec"
)

// idleWhy says why a function may succeed though it only checks what it is given: the first row whose prefix fits. A function
// that does so and has no row stops the generator: nothing pretends without somebody having said why that is right.
var idleWhy = []struct{ prefix, why string }{
	{"cuProfiler", "marks a region for tools; none is attached"}, {"cudaProfiler", "marks a region for tools; none is attached"},
	{"cuFuncSetCacheConfig", "a preference between caches that a processor here does not have apart"}, {"cudaFuncSetCacheConfig", "a preference between caches that a processor here does not have apart"},
	{"cuKernelSetCacheConfig", "a preference between caches that a processor here does not have apart"},
	{"cuFuncSetSharedMemConfig", "banks of a fixed width, as on all devices since compute capability 5"}, {"cudaFuncSetSharedMemConfig", "banks of a fixed width, as on all devices since compute capability 5"},
	{"cuCtxSetSharedMemConfig", "banks of a fixed width, as on all devices since compute capability 5"}, {"cudaDeviceSetSharedMemConfig", "banks of a fixed width, as on all devices since compute capability 5"},
	{"cuCtxResetPersistingL2Cache", "no lines of a cache can be kept (the limit is 0), so none are to be reset"}, {"cudaCtxResetPersistingL2Cache", "no lines of a cache can be kept (the limit is 0), so none are to be reset"},
	{"cuDeviceGraphMemTrim", "graphs hold nothing that could be given back between launches"}, {"cudaDeviceGraphMemTrim", "graphs hold nothing that could be given back between launches"},
	{"cuFlushGPUDirectRDMAWrites", "memory is coherent: what other hardware wrote is seen at once"}, {"cudaDeviceFlushGPUDirectRDMAWrites", "memory is coherent: what other hardware wrote is seen at once"},
	{"cudaSetDoubleFor", "converted numbers for devices without doubles"},
}

// idleReason is the row for a function, "" if there is none.
func idleReason(f *spec.Func) string {
	for _, r := range idleWhy {
		if strings.HasPrefix(f.Name, r.prefix) {
			return r.why
		}
	}
	return ""
}

// onlyChecks reports whether a method that answers nothing but an error does no more than look at its arguments: it consists of
// ifs that return, lookups into err, and returns of nil or err, and calls no other function of the interface.
func onlyChecks(fn *ast.FuncDecl) bool {
	if fn.Type.Results == nil || len(fn.Type.Results.List) != 1 || len(fn.Body.List) == 0 {
		return false
	}
	other := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			sel, isSel := c.Fun.(*ast.SelectorExpr)
			other = other || isSel && sel.Sel.IsExported()
		}
		return true
	})
	if other {
		return false
	}
	for _, s := range fn.Body.List {
		switch s := s.(type) {
		case *ast.IfStmt:
			if s.Else != nil || !onlyReturns(s.Body) {
				return false
			}
		case *ast.AssignStmt:
			for _, l := range s.Lhs {
				if id, ok := l.(*ast.Ident); !ok || id.Name != "_" && id.Name != "err" {
					return false
				}
			}
		case *ast.ReturnStmt:
			if !nilOrErr(s.Results[0]) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func onlyReturns(b *ast.BlockStmt) bool {
	for _, s := range b.List {
		if _, ok := s.(*ast.ReturnStmt); !ok {
			return false
		}
	}
	return true
}

// nilOrErr: nil, err, or absent(nil), which is nil once there is a device.
func nilOrErr(e ast.Expr) bool {
	if c, ok := e.(*ast.CallExpr); ok {
		sel, isSel := c.Fun.(*ast.SelectorExpr)
		return isSel && sel.Sel.Name == "absent" && len(c.Args) == 1 && nilOrErr(c.Args[0])
	}
	id, ok := e.(*ast.Ident)
	return ok && (id.Name == "nil" || id.Name == "err")
}
