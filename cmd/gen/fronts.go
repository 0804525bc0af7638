package main

import "strings"

// writeFronts writes, for every library, what c/front/front_*.S must know of it, and which names it exports. The entries come
// from the list of rows, which the assembler reads.
func writeFronts(w *world) error {
	var list, parts out
	parts.header("#", apiFiles)
	parts.f("# Shared objects with the names of a library: its front, its version node, and the file, which is the node there.\n")
	list.header("#", apiFiles)
	list.f("# Libraries: name of the front, file, and the plain name that leads to it, if any.\n")
	fs := w.fronts()
	for i, f := range fs {
		plain := ""
		if f.api.Answered.Plain && (i+1 == len(fs) || fs[i+1].api != f.api) { // the newest
			plain = f.Soname[:strings.Index(f.Soname, ".so")+len(".so")]
		}
		list.f("%s\n", strings.TrimSpace(f.Key+" "+f.Soname+" "+plain))
		from := "internal/spec/" + f.api.Name + ".api"
		var o out
		o.header("//", from)
		o.f("#include \"ztable.h\"\n\n#define KZ_TABLE kz_table_%[1]s\n#define KZ_NUMBER KZ_LIB_%[1]s\n#define KZ_IN %[2]s\n#define KZ_ROWS \"%[3]s\"\n", f.Key, f.bit(), rowsFile(f.api.Name))
		o.f("#ifdef __aarch64__\n#include \"front_arm64.S\"\n#else\n#include \"front_amd64.S\"\n#endif\n")
		w.files["c/front/zfront_"+f.Key+".S"] = o.Bytes()

		var m out
		m.header("#", from)
		if f.Node != "" {
			m.f("%s ", f.Node)
		}
		m.f("{\nglobal:\n")
		for _, p := range f.patterns(w.house(f.api.Name).Prefix) {
			m.f("\t%s;\n", p)
		}
		m.f("local:\n\t*;\n};\n")
		w.files["c/front/zfront_"+f.Key+".map"] = m.Bytes()
		for _, part := range f.Parts {
			parts.f("%s %s %s\n", f.Key, f.Node, part)
		}
	}
	w.files["c/front/zlibraries.txt"] = list.Bytes()
	w.files["c/front/zparts.txt"] = parts.Bytes()
	return nil
}

// patterns match the names a library exports: what the interface's names begin with. A front defines no other names that do.
func (f front) patterns(prefix string) []string {
	set := map[string]bool{}
	for _, s := range f.syms {
		rest := strings.TrimLeft(s.Name, "_")
		pattern := s.Name
		if strings.HasPrefix(rest, prefix) {
			pattern = s.Name[:len(s.Name)-len(rest)] + prefix + "*"
		}
		set[pattern] = true
	}
	return sortedKeys(set)
}
