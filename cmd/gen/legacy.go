package main

import (
	"fmt"
	"strings"

	"kudzu/internal/spec"
)

// legacyTypes are the C types of cuBLAS's first interface by their names in the table (c/base/legacy.h).
var legacyTypes = map[string]string{"cuComplex": "struct kz_c32", "cuDoubleComplex": "struct kz_c64"}

func legacyType(t *spec.Type) string {
	name := t.Name
	switch {
	case t.Ptr:
		name = legacyType(t.Elem) + " *"
	case legacyTypes[name] != "":
		name = legacyTypes[name]
	}
	if t.Const {
		name = "const " + name
	}
	return name
}

// legacyWord is the function of c/base/legacy.h that reads a letter, by the parameter's name.
func legacyWord(name string) string {
	if strings.HasPrefix(name, "trans") {
		return "trans"
	}
	return name // uplo, side, diag
}

// writeLegacy writes cuBLAS's first interface, without handles, as calls of today's: scalars are passed by value there and results returned,
// so it is C's. A row `cublasSgemm … go=OldSgemm` calls cublasSgemm_v2.
func writeLegacy(w *world) error {
	api := w.apis["cublas"]
	rows := map[string]*spec.Func{}
	for _, f := range api.Funcs {
		rows[f.Name] = f
	}
	var o out
	o.header("//", apiFiles)
	o.f("// cuBLAS's first interface, without handles (legacy.h).\n#include \"legacy.h\"\n")
	for _, f := range api.Funcs {
		if to := rows[f.Name+"_v2"]; to != nil && to != f && strings.HasPrefix(f.Go, "Old") && f.Group != "helper" {
			if err := o.legacy(f, to); err != nil {
				return err
			}
		}
	}
	w.files["c/base/zlegacy.c"] = o.Bytes()
	return nil
}

func (o *out) legacy(f, to *spec.Func) error {
	var params, args, types []string
	bad := ""
	for i, p := range f.Params {
		params = append(params, strings.ReplaceAll(legacyType(p.Type)+" "+p.Name, "* ", "*"))
		today := to.Params[i+1].Type
		switch {
		case p.Type.Name == "char":
			word := legacyWord(p.Name)
			args = append(args, fmt.Sprintf("kz_%s(%s)", word, p.Name))
			if bad == "" {
				bad = fmt.Sprintf("kz_%s(%s) < 0", word, p.Name)
			} else {
				bad += fmt.Sprintf(" || kz_%s(%s) < 0", word, p.Name)
			}
		case today.Ptr && !p.Type.Ptr:
			args = append(args, "&"+p.Name)
		case today.Ptr != p.Type.Ptr:
			return fmt.Errorf("%s: parameter %s is no longer one in %s", f.Name, p.Name, to.Name)
		default:
			args = append(args, p.Name)
		}
	}
	result, zero := f.Result.Name != "void", "0"
	switch left := len(to.Params) - 1 - len(f.Params); {
	case result && left == 1:
		args = append(args, "&result")
		if legacyTypes[f.Result.Name] != "" {
			zero = "{0}"
		}
	case !result && left == 0:
	case !result && left == 2 && strings.HasSuffix(f.Name, "trmm"): // today's result may be another matrix
		args = append(args, args[len(args)-2:]...)
	default:
		return fmt.Errorf("%s: %s has %d parameters more", f.Name, to.Name, left)
	}
	for _, p := range to.Params[1:] {
		if p.Type.Ptr {
			types = append(types, "const void *")
		} else {
			types = append(types, "int")
		}
	}
	o.f("\n%s kzb_%s(%s) {\n", legacyType(f.Result), f.Name, strings.Join(params, ", "))
	if result {
		o.f("\t%s result = %s;\n", legacyType(f.Result), zero)
	}
	silent := strings.HasSuffix(f.Name, "gemv") // an H200 keeps no failure of these
	switch {
	case bad != "" && silent:
		o.f("\tkz_legacy_note(0);\n\tif (%s)\n\t\treturn;\n", bad)
	case bad != "":
		o.f("\tif (%s) {\n\t\tkz_legacy_refuse();\n\t\treturn;\n\t}\n", bad)
	}
	o.f("\tvoid *handle, *f = kz_legacy_call(KZ_cublas_%s, &handle);\n", to.Name)
	call := fmt.Sprintf("((int (*)(void *, %s))f)(handle, %s)", strings.Join(types, ", "), strings.Join(args, ", "))
	if !silent {
		call = "kz_legacy_note(" + call + ")"
	}
	o.f("\tif (f)\n\t\t%s;\n", call)
	if result {
		o.f("\treturn result;\n")
	}
	o.f("}\n")
	return nil
}
