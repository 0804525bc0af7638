// Package trace reads what a traced program leaves behind: a folder with one .kzt file a process image, written by the recorder
// in libkudzu-base.so (c/base/trace.h has the same layout in C), the modules that were loaded, and meta.json.
//
// Everything read here comes from outside, and may be cut off in any place: the program crashed, was killed, or still runs.
// Sizes are checked against the bytes at hand before they are used. A record that cannot be read ends its chunk and nothing
// else; no input makes the package panic or allocate more than a small multiple of it.
//
//	Open       the whole trace: Processes, Threads, and Each, which gives the records of all of them in the order of time
//	Tail       the same while the program runs: Poll gives what was written since
//	Decoder    names, types and values of a call's arguments, by the tables of internal/spec; what handles stand for
//	Writer     makes such files, for tests
package trace
