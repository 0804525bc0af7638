package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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
	{"cuMemGetLocationInfo", "not yet: newer than CUDA 13.0, the version the driver answers with"}, {"cudaMemGetLocationInfo", "not yet: newer than CUDA 13.0, the version the driver answers with"},
	{"cuStreamBeginRecapture", "not yet: newer than CUDA 13.0, the version the driver answers with"}, {"cudaStreamBeginRecapture", "not yet: newer than CUDA 13.0, the version the driver answers with"},
	{"cuStreamBeginCaptureToCig", "graphics in CUDA needs Direct3D"}, {"cuStreamEndCaptureToCig", "graphics in CUDA needs Direct3D"},
	{"cuLaunchCooperativeKernelMultiDevice", "withdrawn by the vendor: not yet"},
	{"cuTensorMapEncodeIm2colWide", "a mode of compute capability 10 only: not yet"},
	{"cuCoredump", "core dumps of device state: no such state"}, {"cuLogs", "vendor's log stream: not yet"},
	{"cuCheckpointOperationComplete", "not yet: newer than CUDA 13.0, the version the driver answers with"}, {"cuProfilerInitialize", "withdrawn by the vendor"},
	{"cudbg", "the vendor's debugger interface, private"},
	{"cudaMemcpyArrayToArray", "withdrawn by the vendor: not yet"},
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

// refusers finds the methods of a package that do nothing but refuse: their one statement returns an error's name, or
// what a method called no… or absent says. The code is the list, as it is for what is implemented.
func (w *world) refusers(pkg string) (map[string]bool, error) {
	found := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(w.root, "internal", pkg, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Body != nil && onlyRefuses(fn.Body) {
				found[fn.Name.Name] = true
			}
		}
	}
	return found, nil
}

func onlyRefuses(body *ast.BlockStmt) bool {
	if len(body.List) != 1 {
		return false
	}
	ret, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) == 0 {
		return false
	}
	switch e := ret.Results[len(ret.Results)-1].(type) {
	case *ast.Ident:
		return strings.HasPrefix(e.Name, "err")
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		rest, no := strings.CutPrefix(sel.Sel.Name, "no")
		return sel.Sel.Name == "absent" || no && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z'
	}
	return false
}
