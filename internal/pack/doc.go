// Package pack is the store of PTX packs: the PTX of a build of a library that has it, for builds of the same version that carry
// only machine code. A module of such a build gets the text of the module of the pack that has most of its kernels; a kernel counts
// if its name, without what a compiler makes up (Key), and the offsets and sizes of its parameters are the same. All others of the
// module are refused by their names.
//
// Of machine code only the ELF headers, names and sizes of parameters are read (cubin.Decode). What is read here, files of the store
// included, may be anybody's: sizes are checked before they are used, and a pack that is damaged is as good as none.
package pack
