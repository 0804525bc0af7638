// Package interp is the oracle: a backend that executes checked PTX thread by thread in plain Go.
//
// It is written to be read beside the PTX manual: one file a chapter, one function an instruction, found through the
// arrays in table.go. A kernel is decoded once (decode.go) into closures over register slots; a warp (warp.go)
// runs the group of threads at the lowest address, so that threads meet again where the manual says they do; blocks
// and grids (grid.go) take turns, so that threads which spin on each other make progress, and a grid in which nothing
// can go on is a fault instead of a hang. Every address is checked against the map of allocations.
package interp
