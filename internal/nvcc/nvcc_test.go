package nvcc

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kudzu/internal/config"
	"kudzu/internal/cudacc"
)

// TestRefusals: what release 13.4 of nvcc says to a bad command line, and its exit code.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-v __x", "nvcc fatal   : Don't know what to do with '__x'"},
		{"--foo a.cu", "nvcc fatal   : Unknown option '--foo'"},
		{"-foo a.cu", "nvcc fatal   : Unknown option '-foo'"},
		{"-arch=sm_12 a.cu", "nvcc fatal   : Unsupported gpu architecture 'sm_12'"},
		{"", "nvcc fatal   : No input files specified; use option --help for more information"},
		{"-c -o x a.cu b.cu", "nvcc fatal   : A single input file is required for a non-link phase when an outputfile is specified"},
		{"-c x.foo", "nvcc fatal   : Don't know what to do with 'x.foo'"},
		{"-std=c++99 a.cu", "nvcc fatal   : Value 'c++99' is not defined for option 'std'"},
		{"-gencode foo a.cu", "nvcc fatal   : 'foo' is not in 'keyword=value' format"},
		{"-o", "nvcc fatal   : argument expected after '-o'"},
		{"-I", "nvcc fatal   : argument expected after '-I'"},
		{"-cudart foo a.cu", "nvcc fatal   : Value 'foo' is not defined for option 'cudart'"},
		{"-ptx -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 a.cu", "nvcc fatal   : Option '--ptx (-ptx)' is not allowed when compiling for multiple GPU architectures"},
	} {
		var out, errs bytes.Buffer
		code := Run(strings.Fields(c.args), t.TempDir(), &out, &errs)
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if last := lines[len(lines)-1]; code != 1 || last != c.want {
			t.Errorf("%s: code %d, %q, want %q", c.args, code, last, c.want)
		}
	}
}

// TestVersion: the words that CMake and PyTorch look for.
func TestVersion(t *testing.T) {
	var out bytes.Buffer
	if code := Run([]string{"--version"}, "", &out, &out); code != 0 || !strings.HasPrefix(out.String(), "nvcc: NVIDIA (R) Cuda compiler driver") || !strings.Contains(out.String(), "release 13.0, V13.0.88") {
		t.Errorf("code %d\n%s", code, out.String())
	}
}

func TestParse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "options")
	if err := os.WriteFile(file, []byte("-DA=\"b c\" -I/x\\ y\n-lfoo"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-O2", "-Xcompiler=-Wall,-fPIC", "-Xcompiler", "-g", "-Ia,b", "-isystem=/s", "--options-file", file, "x.cu", "-L/l", "-lbar", "-MT", "a,b", "-fopenmp", "-forward-unknown-to-host-compiler", "-t4", "-std", "c++20"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		optLevel: {"2"}, optXcompiler: {"-Wall", "-fPIC", "-g"}, optPath: {"a", "b", "/x y"}, optSystem: {"/s"}, optDefine: {"A=b c"},
		optLibPath: {"/l"}, optDepsTarget: {"a,b"}, optThreads: {"4"}, optStd: {"c++20"},
	} {
		if !slices.Equal(o.set[name], want) {
			t.Errorf("%s: %q, want %q", name, o.set[name], want)
		}
	}
	if !slices.Equal(o.inputs, []string{"-lfoo", "x.cu", "-lbar"}) || !slices.Equal(o.toHost, []string{"-fopenmp"}) {
		t.Errorf("inputs %q, to the host's compiler %q", o.inputs, o.toHost)
	}
}

func TestArchs(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "75:75"},
		{"-arch=sm_90a", "90a:90a"},
		{"-arch=compute_80", "80:"},
		{"-arch=compute_80 -code=sm_80,sm_86,compute_80", "80:80,86"},
		{"-arch=native", "89:89"},
		{"-gencode arch=compute_80,code=sm_80 --generate-code=arch=compute_80,code=[sm_86,compute_80] -gencode arch=compute_90,code=compute_90", "80:80,86 90:"},
		{"-arch=sm_60", "60:60"},
		{"-gencode arch=compute_35,code=sm_35 -gencode arch=compute_70,code=compute_70", "50:50 70:"},
		{"-arch=all-major", "75:75 80:80 90:90 100:100 110:110 120:120"},
	} {
		o, err := parse(strings.Fields(c.args))
		if err != nil {
			t.Fatal(err)
		}
		codes, err := o.archs(cudacc.Release13, func() string { return "89" })
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range codes {
			got = append(got, c.virtual+":"+strings.Join(c.real, ","))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.args, got, c.want)
		}
	}
}

// TestManagedHost: every use of a managed variable in the host's IR goes through its pointer.
func TestManagedHost(t *testing.T) {
	ir := `@m = internal global i32 undef, align 4
@.str = private unnamed_addr constant [14 x i8] c"kudzu.managed\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @m, ptr @.str, ptr @.str.1, i32 3, ptr null }], section "llvm.metadata"
define i32 @main(i1 %0) {
  br i1 %0, label %2, label %3

2:
  store i32 1, ptr getelementptr inbounds ([4 x i32], ptr getelementptr inbounds nuw (%struct.P, ptr @m, i32 0, i32 1), i64 0, i64 2), align 4
  br label %3

3:
  %4 = phi ptr [ @m, %1 ], [ @mm, %2 ]
  ret i32 0
}
define internal void @__cuda_register_globals(ptr %0) {
  call void @__cudaRegisterVar(ptr %0, ptr @m, ptr @1, ptr @1, i32 0, i64 4, i32 0, i32 0)
  ret void
}
`
	got, err := managedHost(ir)
	if err != nil {
		t.Fatal(err)
	}
	want := `@m.managed = internal global ptr null, align 8
@.str = private unnamed_addr constant [14 x i8] c"kudzu.managed\00", section "llvm.metadata"
define i32 @main(i1 %0) {
  call void @kudzu.managed.init()
  %kudzu.4 = load ptr, ptr @m.managed, align 8
  br i1 %0, label %2, label %3

2:
  call void @kudzu.managed.init()
  %kudzu.1 = load ptr, ptr @m.managed, align 8
  %kudzu.2 = getelementptr inbounds nuw %struct.P, ptr %kudzu.1, i32 0, i32 1
  %kudzu.3 = getelementptr inbounds [4 x i32], ptr %kudzu.2, i64 0, i64 2
  store i32 1, ptr %kudzu.3, align 4
  br label %3

3:
  %4 = phi ptr [ %kudzu.4, %1 ], [ @mm, %2 ]
  ret i32 0
}
define internal void @__cuda_register_globals(ptr %0) {
  store ptr %0, ptr @kudzu.managed.handle, align 8
  call void @__cudaRegisterManagedVar(ptr %0, ptr @m.managed, ptr @1, ptr @1, i32 0, i64 4, i32 0, i32 0)
  ret void
}
`
	if head, _, _ := strings.Cut(got, managedRuntime); head != want {
		t.Errorf("got\n%s\nwant\n%s", head, want)
	}
	if _, err := managedHost(strings.Replace(ir, "@.str =", "@p = global ptr @m, align 8\n@.str =", 1)); err == nil {
		t.Error("a constant address of a managed variable was taken")
	}
}

// TestOwnStatics: with -fgpu-rdc clang leaves uses of a file's own variable under the name that it no longer has.
func TestOwnStatics(t *testing.T) {
	ptx := ".extern .global .align 4 .u32 _ZL4mine;\n.visible .global .align 4 .u32 _ZL4mine__static__93ee = 3;\n.global .align 8 .u64 __clang_gpu_used_external[1] = {generic(c)};\n\tld.global.u32 %r1, [_ZL4mine];\n"
	want := ".visible .global .align 4 .u32 _ZL4mine__static__93ee = 3;\n\tld.global.u32 %r1, [_ZL4mine__static__93ee];\n"
	if got := ownStatics(ptx); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestBareLink: a fat binary that is linked gives each architecture its own code.
func TestBareLink(t *testing.T) {
	var texts []string
	for _, sm := range []string{"80", "90"} {
		texts = append(texts, ".version 8.0\n.target sm_"+sm+"\n.address_size 64\n.visible .global .u32 made_for_"+sm+";\n")
	}
	data, err := container(texts)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "both.fatbin")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b := &build{options: &options{}}
	_, bare, err := b.units([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	for _, sm := range []string{"80", "90"} {
		f, err := b.linkFor(nil, bare, code{virtual: sm})
		if err != nil || !strings.Contains(f.Text, "made_for_"+sm) {
			t.Errorf("for sm_%s: %v\n%v", sm, err, f)
		}
	}
}

// TestManagedOptions: what the host's compiler is told by any of the two ways counts for code with managed variables, too.
func TestManagedOptions(t *testing.T) {
	o, err := parse([]string{"--forward-unknown-to-host-compiler", "-fPIC", "-Xcompiler=-fno-gnu-unique,-mavx2,-Wall", "x.cu"})
	if err != nil {
		t.Fatal(err)
	}
	args := (&build{options: o}).irArgs()
	if !slices.Contains(args, "-fPIC") || !slices.Contains(args, "-mavx2") || slices.Contains(args, "-fno-gnu-unique") || slices.Contains(args, "-Wall") {
		t.Errorf("%q", args)
	}
}

// TestVariables: options of nvcc's two variables stand around those of the command line.
func TestVariables(t *testing.T) {
	t.Setenv(prependFlags, "-DA='b c' -O2")
	t.Setenv(appendFlags, "-O3")
	if got, want := withVariables([]string{"-c", "x.cu"}), []string{"-DA=b c", "-O2", "-c", "x.cu", "-O3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWhereCCCL: KUDZU_CCCL wins over the folder in our include, and what is not there is not searched.
func TestWhereCCCL(t *testing.T) {
	b := &build{options: &options{set: map[string][]string{}}, home: t.TempDir()}
	if got := b.search(); len(got) != 0 {
		t.Errorf("without CCCL: %q", got)
	}
	beside := filepath.Join(b.home, "include", "cccl")
	if err := os.MkdirAll(beside, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, want := b.search(), []string{"-isystem", beside, "-idirafter", filepath.Dir(beside)}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	named := t.TempDir()
	t.Setenv(config.CCCL, named)
	if got, want := b.search(), []string{"-isystem", named}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestQuotedOptions: the quotes of options for the host's compiler are for a shell.
func TestQuotedOptions(t *testing.T) {
	o, err := parse([]string{"--compiler-options", "'-fPIC'", "-Xcompiler", "-Wall,\"-g\""})
	if err != nil {
		t.Fatal(err)
	}
	b := &build{options: o}
	if got, want := b.toCompiler(), []string{"-fPIC", "-Wall", "-g"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestStandardFolders: folders of the system keep their place behind the C++ library's.
func TestStandardFolders(t *testing.T) {
	o, err := parse([]string{"-I/usr/include", "-I/x", "-isystem", "/usr/include/", "-isystem=/usr/local/include", "-isystem=/y", "a.cu"})
	if err != nil {
		t.Fatal(err)
	}
	b := &build{options: o, home: t.TempDir()}
	t.Setenv(config.CCCL, "/usr/include")
	if got := b.search(); !slices.Equal(got, []string{"-I/x", "-isystem", "/y"}) {
		t.Errorf("searched %q", got)
	}
}
