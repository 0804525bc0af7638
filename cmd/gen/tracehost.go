package main

import (
	"fmt"
	"slices"
	"strings"

	"kudzu/internal/spec"
)

// traceImages are parameters that are images of modules, without versions and variants of names: m, with the parameter that has
// the size where there is one; M for images that the call writes; N for names of files.
var traceImages = map[string]string{
	"cuModuleLoad.fname": "N", "cuModuleLoadData.image": "m", "cuModuleLoadDataEx.image": "m", "cuModuleLoadFatBinary.fatCubin": "m",
	"cuLibraryLoadData.code": "m", "cuLibraryLoadFromFile.fileName": "N", "cuLinkAddData.data": "m size", "cuLinkAddFile.path": "N",
	"cuLinkComplete.cubinOut": "L sizeOut", "cudaLibraryLoadData.code": "m", "cudaLibraryLoadFromFile.fileName": "N",
	"__cudaRegisterFatBinary.fatCubin": "m", "nvrtcCreateProgram.src": "m", "nvrtcGetPTX.ptx": "M", "nvrtcGetCUBIN.cubin": "M",
	"nvJitLinkAddData.data": "m size", "nvJitLinkAddFile.fileName": "N", "nvJitLinkGetLinkedCubin.cubin": "M", "nvJitLinkGetLinkedPtx.ptx": "M",
	"nvvmAddModuleToProgram.buffer": "m size", "nvvmLazyAddModuleToProgram.buffer": "m size", "nvvmGetCompiledResult.buffer": "M",
	"nvFatbinAddPTX.code": "m size", "nvFatbinAddCubin.code": "m size", "nvFatbinAddLTOIR.code": "m size", "nvFatbinGet.buffer": "M",
}

// traceLaunches are the parameters of kernels: k and whose they are, a function of the driver's, or K, of the runtime's.
var traceLaunches = map[string]string{
	"cuLaunchKernel.kernelParams": "k f", "cuLaunchKernel.extra": "x", "cuLaunchKernelEx.kernelParams": "k f", "cuLaunchKernelEx.extra": "x",
	"cuLaunchCooperativeKernel.kernelParams": "k f",
	"cudaLaunchKernel.args":                  "K func", "cudaLaunchKernelExC.args": "K func", "cudaLaunchCooperativeKernel.args": "K func",
	"__cudaLaunchKernel.args": "k kernel",
}

// traceSpecial is the word of a parameter that the recorder knows by its name, "" for others.
func traceSpecial(f *spec.Func, i int) string {
	key := f.Base() + "." + f.Params[i].Name
	word := traceImages[key]
	if word == "" {
		word = traceLaunches[key]
	}
	letter, of, counted := strings.Cut(word, " ")
	if !counted {
		return letter
	}
	at := paramNamed(f, of)
	if at < 0 {
		panic("BUG: " + f.Name + " has no parameter " + of)
	}
	return fmt.Sprintf("%s%d", letter, at)
}

func paramNamed(f *spec.Func, name string) int {
	return slices.IndexFunc(f.Params, func(p spec.Param) bool { return p.Name == name })
}

// traceCounts say which parameter has the length of an array.
var traceCounts = map[string][]string{
	"options": {"numOptions", "optionsCount"}, "optionValues": {"numOptions"}, "jitOptions": {"numJitOptions"}, "jitOptionsValues": {"numJitOptions"},
	"libraryOptions": {"numLibraryOptions"}, "libraryOptionValues": {"numLibraryOptions"},
	"dependencies": {"numDependencies"}, "pDependencies": {"numDependencies"}, "from": {"numDependencies"}, "to": {"numDependencies"},
	"paramArray": {"count"}, "n": {"rank"}, "inembed": {"rank"}, "onembed": {"rank"}, "dimA": {"nbDims"}, "strideA": {"nbDims"},
	"filterDimA": {"nbDims"}, "padA": {"arrayLength"}, "filterStrideA": {"arrayLength"}, "dilationA": {"arrayLength"},
}

// deviceMemory are the interfaces most of whose pointers are addresses of device memory, which nobody here may read.
var deviceMemory = []string{"cublas", "cublaslt", "cusolver", "cusolvermg", "cusparse", "cufft", "curand", "cudnn", "nccl"}

// hostOuts are parameters of type void ** that receive one address.
var hostOuts = []string{"devPtr", "ptr", "pp", "pfn", "funcPtr", "pHost", "pDevice", "dptr", "ppExportTable", "outPtr"}

// notText are parameters of type const char * that are no strings.
var notText = []string{"hostFun", "hostVar", "deviceAddress"}

// traceHost is the word of a parameter whose meaning only the callee knows: where its type and name leave no doubt.
func traceHost(api *spec.API, scopes []*spec.Scope, f *spec.Func, i int) string {
	sc, p := scopes[0], f.Params[i]
	elem := sc.Underlying(sc.Underlying(p.Type).Elem)
	size := sizeBehind(scopes, elem)
	text := elem.Ptr && sc.Underlying(elem.Elem).Name == "char"
	for _, count := range traceCounts[p.Name] {
		at := paramNamed(f, count)
		switch {
		case at < 0 || size == 0 || sc.Pointer(f.Params[at].Type):
		case text:
			return fmt.Sprintf("t%d", at)
		default:
			return fmt.Sprintf("a%dn%d", size, at)
		}
	}
	device := slices.Contains(deviceMemory, api.Name)
	switch {
	case elem.Ptr:
		if !elem.Const && (slices.Contains(hostOuts, p.Name) || text && !device) {
			return "o8"
		}
		return "w"
	case elem.Name == "char" && slices.Contains(notText, p.Name):
		return "w"
	case elem.Name == "char" && elem.Const:
		return "s"
	case elem.Name == "char" && !device && !elem.Const:
		if slices.Contains([]string{"name", "log", "pciBusId", "version"}, p.Name) {
			return "c"
		}
		return "w"
	case size == 0:
		return "w"
	case device && (p.Name == "alpha" || p.Name == "beta") && elem.Const:
		return fmt.Sprintf("q%d", size)
	case sc.Pointer(elem) && !elem.Const:
		return "o8" // a handle
	case device:
		return "w"
	case elem.Const:
		return fmt.Sprintf("p%d", size)
	}
	return fmt.Sprintf("o%d", size)
}
