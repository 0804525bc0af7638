#!/usr/bin/env python3
"""Holds a table of internal/spec against a library's own headers: every value, and the number and width of every parameter.

    headers.py internal/spec/hip.api INCLUDE_FOLDER hip/hip_runtime_api.h
    headers.py internal/spec/rocblas.api INCLUDE_FOLDER rocblas/rocblas.h

    headers.py --clones FOLDER

The last form holds the tables of rocSOLVER, rocFFT, rocSPARSE and MIOpen against the sources of these libraries: git directories
FOLDER/ROCm+rocSPARSE/repo and so on. What a build of them generates, and the headers of HIP and rocBLAS, are stood in for by the types that
their parameters have.

INCLUDE_FOLDER is /opt/rocm/include, or usr/include of an unpacked development package. A C++ compiler does the comparing. What the
headers do not have is listed, not counted: tables hold names of several releases, and places in structures that have no name.
"""
import os
import re
import subprocess
import sys
import tempfile

WIDTH = {"char": 1, "unsigned char": 1, "int8_t": 1, "uint8_t": 1, "bool": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4, "float": 4,
         "int32_t": 4, "uint32_t": 4}


def read(path):
    """values and functions of a table."""
    text = open(path).read()
    enums = set(re.findall(r"^enum (\S+)", text, re.M))
    types = dict(re.findall(r"^type (\S+) (.+?)\s*$", text, re.M))
    sizes = {n: int(k) for n, k in re.findall(r"^struct (\S+).*\n\t\w+ \[(\d+)\]char\n", text, re.M)}

    def width(t):
        t = t.replace("const ", "").strip()
        if "*" in t:
            return 8
        if t in types:
            return width(types[t])
        return 4 if t in enums else sizes.get(t, WIDTH.get(t, 8))

    values = re.findall(r"^(?:\t|const )(\w+) = (-?\w+)", text, re.M)
    functions = []
    for name, params in re.findall(r"^(\w+)\((.*?)\) ", text, re.M):
        functions.append((name, [width(" ".join(p.split(" ")[2:])) for p in params.split(", ")] if params else []))
    return values, functions


def source(values, functions, header, missing):
    lines = ["#define __HIP_PLATFORM_AMD__ 1", "#define __HIP_DISABLE_CPP_FUNCTIONS__ 1", "#include <cstdio>", "#include <vector>", "#include <%s>" % header,
             "template <class R, class... A> std::vector<int> widths(R (*)(A...)) { return {(int)sizeof(A)...}; }",
             "static int differ;", "int main() {", "std::vector<int> w;"]
    for name, v in values:
        if name not in missing:
            lines.append('if ((long long)(%s) != (long long)(%s)) differ++, printf("%s is %%lld, the table has %s\\n", (long long)(%s));' % (name, v, name, v, name))
    for name, ws in functions:
        if name not in missing:
            lines.append('w = widths(&%s); if (w != std::vector<int>{%s}) { differ++; printf("%s: the table has %s, the header"); for (int n : w) printf(" %%d", n); puts(""); }'
                         % (name, ",".join(map(str, ws)), name, ws))
    return "\n".join(lines + ["return differ != 0;", "}"])


STAND_INS = {
    "hip/hip_runtime_api.h": "#pragma once\n#include <cstddef>\n#include <cstdint>\ntypedef struct ihipStream_t *hipStream_t; typedef struct ihipEvent_t *hipEvent_t;"
                             " typedef int hipError_t; typedef void *hipDeviceptr_t; typedef void *hipFunction_t; typedef enum { HIP_A } hipDataType;\n",
    "hip/hip_runtime.h": "#include <hip/hip_runtime_api.h>\n",
    "rocblas/rocblas.h": "#pragma once\n#include <hip/hip_runtime_api.h>\ntypedef struct _rocblas_handle *rocblas_handle; typedef int32_t rocblas_int;"
                         " typedef int64_t rocblas_stride; typedef double rocblas_double; typedef float rocblas_float;"
                         " struct rocblas_half { uint16_t x; }; struct rocblas_bfloat16 { uint16_t x; }; struct rocblas_float_complex { float x, y; }; struct rocblas_double_complex { double x, y; };"
                         + "".join(" typedef enum { %s_A } %s;" % (n, n) for n in ("rocblas_status", "rocblas_operation", "rocblas_side", "rocblas_fill", "rocblas_diagonal", "rocblas_atomics_mode", "rocblas_layer_mode")) + "\n",
    "miopen/config.h": "#pragma once\n#define MIOPEN_BACKEND_HIP 1\n#define MIOPEN_BACKEND_OPENCL 0\n#include <cstdint>\n", "miopen/export.h": "#define MIOPEN_EXPORT\n", "miopen/version.h": "",
}
# Of each library: its clone, the folder of headers in it, how its own begin, the table, the header.
CLONES = [("rocSOLVER", "library/include", "rocsolver", "rocsolver", "rocsolver/rocsolver.h"), ("rocFFT", "library/include", "rocfft", "rocfft", "rocfft/rocfft.h"),
          ("rocSPARSE", "library/include", "rocsparse", "rocsparse", "rocsparse/rocsparse.h"), ("MIOpen", "include", "miopen", "miopen", "miopen/miopen.h")]


def clones(folder):
    """checks the four tables; the number of those that differ."""
    wrong = 0
    for library, where, name, table, header in CLONES:
        repo = os.path.join(folder, "ROCm+" + library, "repo")
        with tempfile.TemporaryDirectory() as tmp:
            names = subprocess.run(["git", "-C", repo, "ls-tree", "-r", "--name-only", "HEAD", where], capture_output=True, text=True, check=True).stdout.split()
            for path in names:
                to = os.path.relpath(path, where)
                if not to.startswith(name + "/"):
                    to = os.path.join(name, to)
                if path.endswith(".h"):
                    text = subprocess.run(["git", "-C", repo, "show", "HEAD:" + path], capture_output=True, text=True, check=True).stdout
                    put(tmp, to, text)
            for to, text in STAND_INS.items():
                put(tmp, to, text)
            put(tmp, "%s/%s-export.h" % (name, name), "#define %s_EXPORT\n#define %s_DEPRECATED\n#define %s_NO_EXPORT\n#define %s_DEPRECATED_MSG(x)\n" % ((name.upper(),) * 4))
            put(tmp, "%s/%s-version.h" % (name, name), "")
            print("%s: " % library, end="", flush=True)
            wrong += check("internal/spec/%s.api" % table, tmp, header) != 0
    return wrong


def put(folder, path, text):
    full = os.path.join(folder, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    open(full, "w").write(text)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--clones":
        sys.exit(clones(sys.argv[2]))
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(check(*sys.argv[1:]))


def check(table, include, header):
    values, functions = read(table)
    missing = set()
    with tempfile.TemporaryDirectory() as tmp:
        cc, exe = os.path.join(tmp, "check.cc"), os.path.join(tmp, "check")
        while True:
            open(cc, "w").write(source(values, functions, header, missing))
            r = subprocess.run(["c++", "-w", "-std=c++17", "-fmax-errors=0", "-I", include, cc, "-Wl,--unresolved-symbols=ignore-all", "-o", exe], capture_output=True, text=True)
            if r.returncode == 0:
                break
            new = set(re.findall(r"error: ['‘](?:::)?(\w+)['’] (?:was not declared|has not been declared)", r.stderr)) - missing
            if not new:
                sys.exit(r.stderr[:2000])
            missing |= new
        print("%d values and %d functions; not in these headers: %s" % (len(values), len(functions), " ".join(sorted(missing)) or "none"), flush=True)
        return subprocess.run([exe]).returncode


main()
