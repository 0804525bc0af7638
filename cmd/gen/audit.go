package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"kudzu/internal/spec"
)

// writeAudit writes the names the loader is redirected for: what c/audit compares a file's name with, and our file.
func writeAudit(w *world) error {
	type row struct {
		stem, version, file string
		major               int
	}
	var rows []row
	for _, f := range w.fronts() {
		for _, soname := range append([]string{f.Soname}, f.Parts...) {
			stem, version, ok := strings.Cut(soname, ".so.")
			if !ok {
				return fmt.Errorf("soname %s has no version", soname)
			}
			version, _, _ = strings.Cut(version, ".")
			if f.Major == 0 {
				version = ""
			}
			rows = append(rows, row{stem + ".so", version, soname, f.Major})
		}
	}
	for _, soname := range spec.InC {
		stem, version, ok := strings.Cut(soname, ".so.")
		major, err := strconv.Atoi(version)
		if !ok || err != nil {
			return fmt.Errorf("soname %s has no version", soname)
		}
		rows = append(rows, row{stem + ".so", version, soname, major})
	}
	sort.Slice(rows, func(i, j int) bool {
		if rows[i].stem != rows[j].stem {
			return rows[i].stem < rows[j].stem
		}
		return rows[i].major < rows[j].major
	})
	var o out
	o.header("//", apiFiles)
	o.f("// The oldest version of a library comes first. Without a major version a library takes every number.\n")
	o.f("static const struct {\n\tconst char *stem, *major, *file;\n} sonames[] = {\n")
	for _, r := range rows {
		o.f("\t{%q, %q, %q},\n", r.stem, r.version, r.file)
	}
	o.f("};\n")
	w.files["c/audit/zsonames.h"] = o.Bytes()
	return nil
}
