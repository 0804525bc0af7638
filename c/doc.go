// Package c holds the tests of the C side: fronts, base and headers, built by
// scripts/dist.sh and used as programs use them. It has no Go code of its own.
package c
