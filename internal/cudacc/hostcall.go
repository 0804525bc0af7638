package cudacc

import (
	"bytes"
	"slices"
)

// A function for both sides that calls a host function: nvcc warns, and device code must not come there. CCCL relies on it, which has
// such calls behind if (false), so that device code has the kernels of the host's path. clang refuses them, so they are shown to it
// inside of a host function's body: a lambda that the host's side calls and the device's side stops at (kudzu/hostcall.h).

const beforeCall, afterCall = "__kudzu_host_call([&] __attribute__((host)) () -> decltype(auto) { return ", "; })"

// wrapCalls is a text in which the calls whose functions' names are at some offsets are in such lambdas, with the same lines; nil if there
// is none that can be so.
func wrapCalls(text []byte, names []int) []byte {
	slices.Sort(names)
	b := bare(text)
	type span struct{ begin, end int }
	var calls []span
	for _, name := range slices.Compact(names) {
		begin, end := callAt(b, name)
		if begin < 0 || bytes.HasSuffix(text[:begin], []byte(beforeCall)) {
			continue
		}
		if n := len(calls); n > 0 && begin < calls[n-1].end { // an argument of the one before
			continue
		}
		calls = append(calls, span{begin, end})
	}
	for _, c := range slices.Backward(calls) {
		text = slices.Concat(text[:c.begin], []byte(beforeCall), text[c.begin:c.end], []byte(afterCall), text[c.end:])
	}
	if len(calls) == 0 {
		return nil
	}
	return text
}

// callAt finds the call of a function, perhaps qualified and with template arguments, whose name is at an offset: where it begins and
// ends, -1 if there is no such call.
func callAt(bare []byte, name int) (begin, end int) {
	begin, end = name, name
	for end < len(bare) && (bare[end] == '_' || isLetter(bare[end])) {
		end++
	}
	if end == name {
		return -1, -1
	}
	for begin > 0 { // members and destructors, too
		if c := bare[begin-1]; c == '_' || c == ':' || c == '.' || c == '~' || isLetter(c) {
			begin--
		} else if bytes.HasSuffix(bare[:begin], []byte("->")) {
			begin -= len("->")
		} else {
			break
		}
	}
	if bytes.IndexByte([]byte(".:~-"), bare[begin]) >= 0 && !bytes.HasPrefix(bare[begin:], []byte("::")) || bytes.HasSuffix(bare[:begin], []byte("]")) || bytes.HasSuffix(bare[:begin], []byte(")")) {
		return -1, -1 // of what an expression gives
	}
	blank := func() {
		for end < len(bare) && (bare[end] == ' ' || bare[end] == '\t' || bare[end] == '\n') {
			end++
		}
	}
	blank()
	if end < len(bare) && bare[end] == '<' {
		if end = closing(bare, end, '<', '>'); end < 0 {
			return -1, -1
		}
		blank()
	}
	if end == len(bare) || bare[end] != '(' {
		return -1, -1
	}
	if end = closing(bare, end, '(', ')'); end < 0 {
		return -1, -1
	}
	return begin, end
}

// closing is the place behind the bracket that closes the one at an offset, -1 without one in the statement.
func closing(bare []byte, at int, open, shut byte) int {
	depth := 0
	for i := at; i < len(bare); i++ {
		switch bare[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		case ';':
			if open == '<' {
				return -1
			}
		}
	}
	return -1
}
