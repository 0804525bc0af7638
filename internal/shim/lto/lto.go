// Package lto makes PTX of functions that programs hand to libraries as LTO-IR, which our NVRTC and libNVVM make.
package lto

import (
	"errors"

	"kudzu/internal/compile"
	"kudzu/internal/nvvmir"
)

var compiler compile.IRCompiler

// Use names who compiles. It is called before the first function is.
func Use(c compile.IRCompiler) { compiler = c }

// ErrForeign is LTO-IR of somebody else, or none.
var ErrForeign = errors.New("not LTO-IR of Kudzu's")

// arch is compiled for: what functions of libraries run on has it.
const arch = "80"

// PTX is the module of a program's functions, of one piece of code or several.
func PTX(name string, codes ...[]byte) (string, error) {
	p := &compile.NVVM{Options: nvvmir.Options{Arch: arch, Level: 3}}
	var all []byte
	for _, code := range codes {
		if _, ok := nvvmir.FromLTO(string(code)); !ok || compiler == nil {
			return "", ErrForeign
		}
		p.Units = append(p.Units, compile.NVVMUnit{Name: name, Bytes: len(code)})
		all = append(all, code...)
	}
	return compiler.PTX(p, string(all))
}
