package image

import "hash/fnv"

// FuncID is the number that stands for a device function's address. Images are per kernel and variables are placed by
// the runtime, so it depends on nothing but the name. It lies in no address range of a process.
func FuncID(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash takes everything
	return h.Sum64()>>8 | 0xfc<<56
}
