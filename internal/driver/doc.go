// Package driver is the CUDA driver API in Go: devices, contexts, modules, functions, streams, events, memory.
//
// Each exported method of *Thread is one CUDA function with the vendor's name less its "cu" prefix and
// version suffix; cmd/gen binds the C entry points to the methods it finds. Objects are reached through
// handles only, so a stale, foreign or random value is an error code and never a crash.
//
// Files are in families. A family's prefix begins the names of its files; the file with the bare name has the object itself.
//
//	core_     cuInit, the thread block, results, logs, versions; what cudart and the shims ask beside the API
//	dev_      devices, their attributes, peers
//	ctx_      contexts: created, primary, green; limits and resources
//	stream_   streams, events, the tasks they run, the order of the legacy stream, operations on words of memory
//	mem_      allocations and what is known of an address; copies, sets, pools, managed and virtual memory, memory of other processes
//	tex_      arrays, textures, surfaces, texture references, tensor maps
//	code_     images, modules, libraries, functions, linking, launches, occupancy
//	graph_    graphs and their nodes, capture, instantiation, update, launch
//	interop_  graphics, video, external memory, endpoints, and features that no device here has
package driver
