#!/usr/bin/env python3
"""Holds a table of internal/spec against a library's own headers: every value, and the number and width of every parameter.

    headers.py internal/spec/hip.api INCLUDE_FOLDER hip/hip_runtime_api.h
    headers.py internal/spec/rocblas.api INCLUDE_FOLDER rocblas/rocblas.h

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


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    values, functions = read(sys.argv[1])
    missing = set()
    with tempfile.TemporaryDirectory() as tmp:
        cc, exe = os.path.join(tmp, "check.cc"), os.path.join(tmp, "check")
        while True:
            open(cc, "w").write(source(values, functions, sys.argv[3], missing))
            r = subprocess.run(["c++", "-w", "-std=c++17", "-fmax-errors=0", "-I", sys.argv[2], cc, "-Wl,--unresolved-symbols=ignore-all", "-o", exe], capture_output=True, text=True)
            if r.returncode == 0:
                break
            new = set(re.findall(r"error: ['‘](?:::)?(\w+)['’] (?:was not declared|has not been declared)", r.stderr)) - missing
            if not new:
                sys.exit(r.stderr[:2000])
            missing |= new
        print("%d values and %d functions; not in these headers: %s" % (len(values), len(functions), " ".join(sorted(missing)) or "none"))
        sys.exit(subprocess.run([exe]).returncode)


main()
