package llvm

import (
	"sync"
	"unsafe"

	"kudzu/internal/llvm/release"
)

// options are switches of LLVM's code generators that it offers on a command line only, by target.
//
// disable-x86-domain-reassignment: the pass moves integer operations on masks into mask registers and makes kmovb and kmovw of
// zero extensions. The register allocator takes these for copies (emit/warp/segment.go), so the zeros are lost where it spills.
var options = map[string][]string{
	"X86": {"-disable-x86-domain-reassignment"},
}

// optionsSet are the libraries, by handle, and targets whose options are set: a second time is an error to LLVM.
var optionsSet = struct {
	sync.Mutex
	done map[uintptr]map[string]bool // guarded by the mutex
}{done: map[uintptr]map[string]bool{}}

// setOptions sets a target's options, once for each library in the process. LLVM ends the process at an option that it does not know,
// so releases that were never tried are left as they are.
func (l *Lib) setOptions(target string) {
	if len(options[target]) == 0 || !release.IsTested(int(l.major)) {
		return
	}
	optionsSet.Lock()
	defer optionsSet.Unlock()
	if optionsSet.done[l.handle][target] {
		return
	}
	if optionsSet.done[l.handle] == nil {
		optionsSet.done[l.handle] = map[string]bool{}
	}
	optionsSet.done[l.handle][target] = true
	argv := []*byte{cString("kudzu")}
	for _, o := range options[target] {
		argv = append(argv, cString(o))
	}
	n := len(argv)
	argv = append(argv, nil)
	l.fn.ParseCommandLineOptions(int32(n), unsafe.SliceData(argv), cString(""))
}

// cString is s with a NUL behind it.
func cString(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }
