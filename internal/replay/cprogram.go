package replay

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kudzu/internal/backend"
	"kudzu/internal/dump"
	"kudzu/internal/spec/cu"
)

//go:embed program.c.txt
var program string

var arrayFormats = [...]cu.CUarray_format{
	backend.FormatU8: cu.CU_AD_FORMAT_UNSIGNED_INT8, backend.FormatU16: cu.CU_AD_FORMAT_UNSIGNED_INT16, backend.FormatU32: cu.CU_AD_FORMAT_UNSIGNED_INT32,
	backend.FormatS8: cu.CU_AD_FORMAT_SIGNED_INT8, backend.FormatS16: cu.CU_AD_FORMAT_SIGNED_INT16, backend.FormatS32: cu.CU_AD_FORMAT_SIGNED_INT32,
	backend.FormatF16: cu.CU_AD_FORMAT_HALF, backend.FormatF32: cu.CU_AD_FORMAT_FLOAT,
}

// WriteC writes a launch as a C program on the driver API: FILE.c, and its memory beside it as FILE.data.
func WriteC(f *dump.File, path string, out io.Writer) error {
	if f.Fault != "" {
		return errors.New("the launch ended with a fault: there is nothing to compare with")
	}
	for i := range f.Textures {
		if t := &f.Textures[i]; t.Levels > 1 || t.Reference != 0 || t.Kind == backend.SamplerObject {
			return fmt.Errorf("texture %d: no C is written for mipmapped arrays and for references", i)
		}
	}
	where := strings.TrimSuffix(path, ".c") + ".data"
	var data bytes.Buffer
	add := func(b []byte) int {
		for data.Len()%16 != 0 {
			data.WriteByte(0)
		}
		at := data.Len()
		data.Write(b)
		return at
	}
	var c strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&c, format+"\n", args...) }
	line("// One launch of %s, dumped on %s (%s). Written by kudzu replay --c.", comment(f.Kernel), comment(f.Backend), comment(f.Device))
	line("//   gcc -o replay %s -lcuda && ./replay", comment(filepath.Base(path)))
	line("// It says where memory is different afterwards; its exit code is 1 then, and 2 if it could not run.\n")
	line("#define KERNEL %s\n#define DATA %s", quote(f.Kernel), quote(filepath.Base(where)))
	line("#define PTX_AT %d\n#define PARAMS_AT %d\n#define PARAM_BYTES %d", add(append([]byte(foreign(f.PTX)), 0)), add(f.Values), len(f.Values))
	for i, axis := range "XYZ" {
		line("#define GRID_%c %d\n#define BLOCK_%c %d\n#define CLUSTER_%c %d", axis, f.Grid[i], axis, f.Block[i], axis, f.Cluster[i])
	}
	line("#define NPARAMS %d\nstatic const int param_offsets[] = {", len(f.Params))
	for _, p := range f.Params {
		if p.Offset+p.Size > len(f.Values) {
			return fmt.Errorf("parameter %s: %d bytes at %d of %d", p.Name, p.Size, p.Offset, len(f.Values))
		}
		line("\t%d, // %s", p.Offset, comment(p.Name))
	}
	line("\t0,\n};")
	line("#define SHARED %d\n#define COOPERATIVE %d\n", f.Shared, flag(f.Cooperative))
	line("#define NREGIONS %d\nstatic const struct region {\n\tunsigned long long base, size, before, after;\n\tconst char *var, *name;\n} regions[] = {", len(f.Regions))
	for i := range f.Regions {
		r := &f.Regions[i]
		before := add(f.Before[i])
		after := before
		if !bytes.Equal(f.Before[i], f.After[i]) {
			after = add(f.After[i])
		}
		name := "0"
		if r.Var != "" {
			name = quote(r.Var)
		}
		line("\t{%#xu, %du, %du, %du, %s, %s},", r.Base, r.Size, before, after, name, quote(ParamOf(f, i)))
	}
	line("\t{0, 0, 0, 0, 0, 0},\n};\n")
	line("#define NTEXTURES %d\nstatic const struct texture {\n\tunsigned long long handle, base, pitch, slice;\n\tunsigned surface, memory, width, height, depth, format, channels, array_flags, address[3], linear, mip_linear, flags, anisotropy, border[4];\n} textures[] = {", len(f.Textures))
	for i := range f.Textures {
		line("\t%s,", textureRow(&f.Textures[i]))
	}
	line("\t{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0}, 0, 0, 0, 0, {0, 0, 0, 0}},\n};\n")
	words, err := functionWords(f)
	if err != nil {
		return err
	}
	line("// Words of variables that hold functions: each device has its own numbers for them.\n#define NFUNCTIONS %d\nstatic const struct function {\n\tint region;\n\tunsigned long long offset;\n} function_words[] = {", len(words))
	for _, w := range words {
		line("\t{%d, %d},", w.In, w.Offset)
	}
	line("\t{0, 0},\n};\n\n#define DATA_BYTES %d\n", data.Len())
	c.WriteString(program)
	if err := errors.Join(os.WriteFile(path, []byte(c.String()), 0o644), os.WriteFile(where, data.Bytes(), 0o644)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s and %s: gcc %s -lcuda\n", path, where, path)
	return err
}

var ours = regexp.MustCompile(`(?m)^[ \t]*\.pragma[ \t]+"kudzu [^\n]*\n?`)

// foreign is a kernel's text for compilers other than ours, which know nothing of our pragmas.
func foreign(ptx string) string { return ours.ReplaceAllString(ptx, "") }

// functionWords are the words of variables that hold functions.
func functionWords(f *dump.File) ([]dump.Word, error) {
	m, err := (&Options{}).describe(f, &backend.Info{})
	if err != nil {
		return nil, err
	}
	var list []dump.Word
	for i := range f.Regions {
		n := slices.IndexFunc(m.Vars, func(v backend.VarDecl) bool { return v.Name == f.Regions[i].Var })
		if n < 0 {
			continue
		}
		for _, r := range m.Vars[n].Relocs {
			isVar := slices.ContainsFunc(m.Vars, func(v backend.VarDecl) bool { return v.Name == r.Symbol })
			if !isVar && r.Size == 8 && r.Mask == 0 && r.Offset+8 <= f.Regions[i].Size && len(list) < maxFunctions {
				list = append(list, dump.Word{In: i, Offset: r.Offset})
			}
		}
	}
	return list, nil
}

const maxFunctions = 64

func textureRow(t *backend.Texture) string {
	flags, array := uint32(0), uint32(cu.CUDA_ARRAY3D_SURFACE_LDST)
	for _, x := range []struct {
		on   uint8
		to   *uint32
		flag uint32
	}{
		{t.Integers, &flags, cu.CU_TRSF_READ_AS_INTEGER}, {t.Normalized, &flags, cu.CU_TRSF_NORMALIZED_COORDINATES}, {t.SRGB, &flags, cu.CU_TRSF_SRGB},
		{t.Seamless, &flags, cu.CU_TRSF_SEAMLESS_CUBEMAP}, {t.Layered, &array, cu.CUDA_ARRAY3D_LAYERED}, {t.Cube, &array, cu.CUDA_ARRAY3D_CUBEMAP},
	} {
		if x.on != 0 {
			*x.to |= x.flag
		}
	}
	b := [4]uint32{}
	for i := range b {
		b[i] = math.Float32bits(t.Border[i])
	}
	return fmt.Sprintf("{%#xu, %#xu, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, {%d, %d, %d}, %d, %d, %d, %d, {%d, %d, %d, %d}}", t.Handle, t.Base[0], t.Pitch[0], t.Slice[0],
		flag(t.Kind == backend.SurfaceObject), t.Memory, t.Width[0], t.Height[0], t.Depth[0], uint32(arrayFormats[t.Format]), t.Channels, array,
		t.Address[0], t.Address[1], t.Address[2], t.Linear, t.MipLinear, flags, t.Anisotropy, b[0], b[1], b[2], b[3])
}

func flag(on bool) int {
	if on {
		return 1
	}
	return 0
}

// quote is a C string of any bytes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		if c >= ' ' && c < 127 && c != '"' && c != '\\' && c != '?' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "\\%03o", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// comment is text that ends no comment and begins no line.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '\\' || r > 126 {
			return '_'
		}
		return r
	}, s)
}
