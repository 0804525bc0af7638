// Package cudart is the CUDA runtime API on top of the driver: what a program built by nvcc calls. It adds to the driver a
// device per host thread whose primary context comes to life when it is first needed, the last error, and the kernels and
// variables that a program registers before main. A file an object; methods are named as the C functions without "cuda".
package cudart
