// Command relr takes the relative relocations of libkudzu.so out of the loader's table and writes them in the form of DT_RELR, which
// is a hundredth of the bytes, for the image's own constructor to apply (cmd/libkudzu/relocate.c): loaders before glibc 2.36 do not
// know DT_RELR.
//
//	relr libkudzu.so      the file is written again; one that has been is left as it is
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: relr libkudzu.so")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "relr: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// rewrite replaces the file whole: a process that has the old one mapped keeps it.
func rewrite(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	changed, err := pack(b)
	if err != nil || !changed {
		return err
	}
	if err := os.WriteFile(path+".relr", b, st.Mode().Perm()); err != nil {
		return err
	}
	return os.Rename(path+".relr", path)
}
