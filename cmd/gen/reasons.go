package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kudzu/internal/spec"
)

// reasons says why a function of the driver or the runtime is not answered: the first row whose prefix fits. A function
// without a row here stops the generator, so none is missing without somebody having said why.
var reasons = []struct{ prefix, why string }{
	{"cuEGL", "EGL streams need a display driver"}, {"cudaEGL", "EGL streams need a display driver"},
	{"cuGraphicsEGL", "EGL images need a display driver"}, {"cuGraphicsResourceGetMappedEglFrame", "EGL images need a display driver"},
	{"cuEventCreateFromEGLSync", "EGL needs a display driver"},
	{"cuVDPAU", "VDPAU needs the vendor's video driver"}, {"cuGraphicsVDPAU", "VDPAU needs the vendor's video driver"},
	{"cuDeviceGetNvSciSync", "NvSci exists on the vendor's embedded systems only"},
	{"cuDeviceGetFabric", "no fabric between devices here"}, {"cuDeviceGetClique", "no fabric between devices here"},
	{"cuLogicalEndpoint", "no fabric between devices here"}, {"cuMulticast", "no multicast hardware; the device's attribute says so"},
	{"cuGreenCtx", "a device here has one partition"}, {"cuCtxFromGreenCtx", "a device here has one partition"},
	{"cuDevSmResource", "a device here has one partition"}, {"cuDevResource", "a device here has one partition"},
	{"cudaDevSmResource", "a device here has one partition"}, {"cudaDevResource", "a device here has one partition"},
	{"cudaGreenCtx", "a device here has one partition"}, {"cudaExecutionCtxDestroy", "a device here has one partition"},
	{"cuArrayGetSparse", "sparse arrays: not yet"}, {"cudaArrayGetSparse", "sparse arrays: not yet"},
	{"cuMipmappedArrayGetSparse", "sparse arrays: not yet"}, {"cudaMipmappedArrayGetSparse", "sparse arrays: not yet"},
	{"cuMemMapArrayAsync", "sparse arrays: not yet"},
	{"cuArrayGetMemoryReq", "deferred array mapping: not yet"}, {"cudaArrayGetMemoryReq", "deferred array mapping: not yet"},
	{"cuMipmappedArrayGetMemoryReq", "deferred array mapping: not yet"}, {"cudaMipmappedArrayGetMemoryReq", "deferred array mapping: not yet"},
	{"cuArrayGetPlane", "planar video formats: not yet"}, {"cudaArrayGetPlane", "planar video formats: not yet"},
	{"cuMemBatchDecompress", "no decompression engine; the device's attribute says so"},
	{"cuMemGetLocationInfo", "not yet: of CUDA 13.3 and 13.4, whose driver nothing was recorded on"}, {"cudaMemGetLocationInfo", "not yet: of CUDA 13.3 and 13.4, whose driver nothing was recorded on"},
	{"cuStreamBeginRecapture", "not yet: of CUDA 13.3 and 13.4, whose driver nothing was recorded on"}, {"cudaStreamBeginRecapture", "not yet: of CUDA 13.3 and 13.4, whose driver nothing was recorded on"},
	{"cuStreamBeginCaptureToCig", "graphics in CUDA needs Direct3D"}, {"cuStreamEndCaptureToCig", "graphics in CUDA needs Direct3D"},
	{"cuLaunchCooperativeKernelMultiDevice", "withdrawn by the vendor: not yet"},
	{"cuTensorMapEncodeIm2colWide", "a mode of compute capability 10 only: not yet"},
	{"cuLogs", "vendor's log stream: not yet"},
	{"cuCheckpointOperationComplete", "not yet: of CUDA 13.3 and 13.4, whose driver nothing was recorded on"}, {"cuProfilerInitialize", "withdrawn by the vendor"},
	{"cudbg", "the vendor's debugger interface, private"},
}

// reason is the row for a function, "" if there is none.
func reason(f *spec.Func) string {
	for _, r := range reasons {
		if strings.HasPrefix(f.Name, r.prefix) {
			return r.why
		}
	}
	if f.Opaque {
		return "signature not public"
	}
	return ""
}

// without says what a machine lacks where a function can only refuse, as the real one does there: the first row whose prefix
// fits. A function that refuses and has no row stops the generator too.
var without = []struct{ prefix, why string }{
	{"cuArrayGetPlane", "arrays of planes (video formats)"}, {"cudaArrayGetPlane", "arrays of planes (video formats)"},
	{"cuArrayGet", "sparse arrays and arrays that are given memory later; the device's attributes say so"}, {"cudaArrayGet", "sparse arrays and arrays that are given memory later; the device's attributes say so"},
	{"cuMipmappedArrayGet", "sparse arrays and arrays that are given memory later; the device's attributes say so"},
	{"cudaMipmappedArrayGet", "sparse arrays and arrays that are given memory later; the device's attributes say so"},
	{"cuMemMapArrayAsync", "sparse arrays and arrays that are given memory later; the device's attributes say so"},
	{"cuMemBatchDecompress", "a decompression engine; the device's attribute says so"},
	{"cuMulticast", "multicast hardware; the device's attribute says so"}, {"cuLogicalEndpoint", "a fabric between devices; the device's attribute says so"},
	{"cuDeviceGetFabric", "a fabric between devices; the device's attribute says so"},
	{"cuDeviceGetNvSciSync", "NvSci, of the vendor's embedded systems"}, {"cudaDeviceGetNvSciSync", "NvSci, of the vendor's embedded systems"},
	{"cuGL", "OpenGL of the vendor"}, {"cudaGL", "OpenGL of the vendor"}, {"cuGraphicsGL", "OpenGL of the vendor"}, {"cudaGraphicsGL", "OpenGL of the vendor"}, {"cuWGL", "OpenGL of the vendor"},
	{"cuEGL", "EGL of the vendor"}, {"cudaEGL", "EGL of the vendor"}, {"cuGraphicsEGL", "EGL of the vendor"}, {"cudaGraphicsEGL", "EGL of the vendor"},
	{"cuEventCreateFromEGL", "EGL of the vendor"}, {"cudaEventCreateFromEGL", "EGL of the vendor"},
	{"cuGraphicsResourceGetMappedEgl", "EGL of the vendor"}, {"cudaGraphicsResourceGetMappedEgl", "EGL of the vendor"},
	{"cuVDPAU", "VDPAU of the vendor"}, {"cudaVDPAU", "VDPAU of the vendor"}, {"cuGraphicsVDPAU", "VDPAU of the vendor"}, {"cudaGraphicsVDPAU", "VDPAU of the vendor"},
	{"cuGraphics", "a graphics interface, so that nothing can be registered"}, {"cudaGraphics", "a graphics interface, so that nothing can be registered"},
	{"cuStreamBeginCaptureToCig", "a graphics queue"}, {"cuStreamEndCaptureToCig", "a graphics queue"},
	{"cuImportExternalSemaphore", "a graphics interface that makes semaphores"}, {"cuDestroyExternalSemaphore", "a graphics interface that makes semaphores"},
	{"cuSignalExternalSemaphores", "a graphics interface that makes semaphores"}, {"cuWaitExternalSemaphores", "a graphics interface that makes semaphores"},
	{"cuExternalMemoryGetMappedMipmappedArray", "a graphics interface that lays images out"},
	{"cudaImportExternalSemaphore", "a graphics interface that makes semaphores"}, {"cudaDestroyExternalSemaphore", "a graphics interface that makes semaphores"},
	{"cudaSignalExternalSemaphores", "a graphics interface that makes semaphores"}, {"cudaWaitExternalSemaphores", "a graphics interface that makes semaphores"},
	{"cudaExternalMemoryGetMappedMipmappedArray", "a graphics interface that lays images out"},
	{"cuFlushGPUDirectRDMAWrites", "a network card that writes into a device's memory"}, {"cudaDeviceFlushGPUDirectRDMAWrites", "a network card that writes into a device's memory"},
	{"cuCoredump", "core dumps of a device: its state is the process's own"}, {"cuParamSetTexRef", "references that a kernel does not name itself (withdrawn)"},
	{"cuCheckpointProcess", "another process that could be frozen"}, {"cuDeviceGetLuid", "Windows"}, {"cudaDeviceGetLuid", "Windows"},
	{"cuMemGetHandleForAddressRange", "DMA buffers; the device's attribute says so"},
	{"cudaProfilerInitialize", "the profiler that left the interface"}, {"cuProfilerInitialize", "the profiler that left the interface"}, {"cuCheckpointOperation", "operations on checkpoints that go on by themselves"},
	{"cuTensorMapEncodeIm2colWide", "compute capability 10"},
	{"cuLibraryGetUnifiedFunction", "functions for host and device in one library"}, {"cudaLibraryGetUnifiedFunction", "functions for host and device in one library"},
}

// lacking is the row of without for a function, "" if there is none.
func lacking(f *spec.Func) string {
	for _, r := range without {
		if strings.HasPrefix(f.Name, r.prefix) {
			return r.why
		}
	}
	return ""
}

// refusers finds the methods of a package that can only refuse: every return gives an error that is known not to be nil, or
// what another such method says. The code is the list, as it is for what is implemented.
// What a package below refuses is given as known. idle are the methods that only check.
func (w *world) refusers(pkg string, known map[string]bool) (found, idle map[string]bool, err error) {
	bodies := map[string][]*ast.BlockStmt{}
	idle, found = map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob(filepath.Join(w.root, "internal", pkg, "*.go"))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil {
					bodies[d.Name.Name] = append(bodies[d.Name.Name], d.Body)
					idle[d.Name.Name] = idle[d.Name.Name] || d.Recv != nil && onlyChecks(d)
				}
			case *ast.GenDecl:
				codes(d, found)
			}
		}
	}
	called := func(name string) bool { return found[name] || known[name] }
	for more := true; more; {
		more = false
		for name, list := range bodies {
			if !found[name] && !slices.ContainsFunc(list, func(b *ast.BlockStmt) bool { return !onlyRefuses(b, called) }) {
				found[name], more = true, true
			}
		}
	}
	for name := range found {
		delete(idle, name)
	}
	return found, idle, nil
}

// codes adds the constants that are codes of the package's own, such as notSupported = Return(…).
func codes(d *ast.GenDecl, found map[string]bool) {
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.CONST {
			continue
		}
		for i, name := range v.Names {
			if i < len(v.Values) && isRefusal(v.Values[i], false, func(string) bool { return false }) {
				found[name.Name] = true
			}
		}
	}
}

// onlyRefuses reports whether no return of a body can say nil.
func onlyRefuses(body *ast.BlockStmt, refuser func(string) bool) bool {
	refuses, returns, set := true, 0, false // set: err came from one that refuses
	var walk func(n ast.Node, guarded bool)
	walk = func(n ast.Node, guarded bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			switch s := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.IfStmt:
				if s.Init != nil {
					walk(s.Init, guarded)
				}
				before := set
				walk(s.Body, guarded || notNil(s.Cond))
				set = set && before // it may not have run
				if s.Else != nil {
					walk(s.Else, guarded)
					set = set && before
				}
				return false
			case *ast.AssignStmt:
				if x, ok := s.Lhs[len(s.Lhs)-1].(*ast.Ident); ok && x.Name == "err" {
					set = isRefusal(s.Rhs[len(s.Rhs)-1], false, refuser)
				}
			case *ast.ReturnStmt:
				returns++
				refuses = refuses && len(s.Results) > 0 && isRefusal(s.Results[len(s.Results)-1], guarded || set, refuser)
			}
			return true
		})
	}
	walk(body, false)
	return refuses && returns > 0
}

// notNil reports whether a condition is that an error is there.
func notNil(cond ast.Expr) bool {
	c, ok := cond.(*ast.BinaryExpr)
	if !ok || c.Op != token.NEQ {
		return false
	}
	x, ok := c.X.(*ast.Ident)
	y, also := c.Y.(*ast.Ident)
	return ok && also && (x.Name == "err" || x.Name == "e") && y.Name == "nil"
}

func isRefusal(e ast.Expr, guarded bool, refuser func(string) bool) bool {
	switch e := e.(type) {
	case *ast.Ident:
		if e.Name == "err" || e.Name == "e" {
			return guarded
		}
		return strings.HasPrefix(e.Name, "err") || refuser(e.Name)
	case *ast.CallExpr:
		switch fn := e.Fun.(type) {
		case *ast.Ident:
			if fn.Name == "error" { // a conversion
				return isRefusal(e.Args[0], guarded, refuser)
			}
			return fn.Name == "Error" || fn.Name == "Result" || fn.Name == "Return" || refuser(fn.Name)
		case *ast.SelectorExpr:
			if strings.HasPrefix(fn.Sel.Name, "absent") && len(e.Args) > 0 { // gives back the error it is given
				return isRefusal(e.Args[0], guarded, refuser)
			}
			if fn.Sel.Name == "Or" { // the first that is one
				return slices.ContainsFunc(e.Args, func(a ast.Expr) bool { return isRefusal(a, guarded, refuser) })
			}
			return refuser(fn.Sel.Name)
		}
	}
	return false
}
