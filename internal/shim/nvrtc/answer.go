package nvrtc

import (
	"encoding/binary"

	"kudzu/internal/compile"
	"kudzu/internal/cudacc"
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
)

// answerFormat begins and ends the payload of an answer: c/base/answer.c reads no other.
const answerFormat = "kudzu NVRTC answer 2"

// key is what c/base calls the answer to the call under way, if it keeps one.
func (t *Thread) key() (k [32]byte, ok bool) {
	at := hostmem.Ptr((*driver.Thread)(t).AnswerKey)
	if at == hostmem.Nil {
		return k, false
	}
	copy(k[:], hostmem.Bytes(at, uint64(len(k))))
	return k, true
}

// answer is the payload that c/base answers the same request from the next time, without Go: texts and numbers of 8 bytes, a text
// behind its length. Of a program that was not compiled, the log counts. Files that the result depends on come last; one of size -1 must
// not be there. mu is held.
func (p *program) answer(rc Result, files []compile.CUDAFile) []byte {
	var b []byte
	number := func(n int64) { b = binary.LittleEndian.AppendUint64(b, uint64(n)) }
	text := func(s string) {
		number(int64(len(s)))
		b = append(b, s...)
	}
	text(answerFormat)
	number(int64(rc))
	text(p.log + "\x00")
	text(p.ptx)
	text(string(p.cubin))
	text(p.lto)
	number(int64(len(p.exprs)))
	for _, e := range p.exprs {
		name := p.names[e]
		if name != "" {
			name += "\x00"
		}
		text(name)
	}
	number(int64(len(files)))
	for _, f := range files {
		text(f.Path + "\x00")
		number(f.Size)
		number(f.Nanos)
	}
	text(answerFormat)
	return b
}

// asked says that a compilation did more than give its results: what it wrote or measured is not in an answer.
func asked(o *cudacc.Options) bool {
	return o.TimeFile != "" || o.TraceFile != "" || o.Verbose || o.MakePCH
}
