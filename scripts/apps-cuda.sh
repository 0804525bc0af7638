#!/bin/sh
# Opt-in: builds testdata/apps/cuda with the vendor's compilers 11.8, 12 and 13, runtime linked statically and dynamically, and runs
# all of it on Kudzu; each must print what its .out file says, which a real GPU wrote. A program that needs a newer compiler has a
# line "// since: 12", one of what newer ones dropped "// until: 11".
#   scripts/apps-cuda.sh build DIR [NAME...]      programs DIR/<11|12|13>-<static|shared>/NAME, and DIR/lib with the vendor's runtimes
#   scripts/apps-cuda.sh run DIR [NAME...]        a line a program; exits 1 when one differs     (KUDZU_LIB: default dist/lib)
# The recording device is of compute capability 9.0, so that is claimed unless KUDZU_COMPUTE_CAPABILITY says otherwise.
# KUDZU_APP_KINDS="13-static 12-shared" leaves out the other compilers and runtimes.
set -eu
cd "$(dirname "$0")/.."
src=testdata/apps/cuda
what=$1
dir=$2
shift 2
if [ $# = 0 ]; then
    for f in "$src"/*.cu; do case $f in *_part*) ;; *) set -- "$@" "$(basename "$f" .cu)" ;; esac done
fi
kinds=${KUDZU_APP_KINDS:-11-static 11-shared 12-static 12-shared 13-static 13-shared}

fits() { # NAME MAJOR: the program is for this compiler
    since=$(sed -n 's|^// since: ||p' "$src/$1.cu")
    until=$(sed -n 's|^// until: ||p' "$src/$1.cu")
    [ "$2" -ge "${since:-0}" ] && [ "$2" -le "${until:-99}" ]
}

one() { # NAME MAJOR: both programs of one compiler
    flags=$(sed -n '1s|^// nvcc: ||p' "$src/$1.cu")
    options='' parts="$1.cu"
    for f in $flags; do case $f in *.cu) parts="$parts $f" ;; *) options="$options $f" ;; esac done
    for kind in static shared; do mkdir -p "$dir/$2-$kind"; done
    objects=
    for p in $parts; do
        o=$dir/$2-${p%.cu}.o
        "$nvcc" -std=c++17 -w $more $arch ${options%% -lcudadevrt} -I$src -c "$src/$p" -o "$o" || return 1
        objects="$objects $o"
    done
    for kind in static shared; do
        "$nvcc" -w $more $arch $options -cudart $kind $objects -o "$dir/$2-$kind/$1" || return 1
        strip "$dir/$2-$kind/$1"
    done
    rm -f $objects
}

build() {
    # PTX for any device, and for the recording device its own code too.
    arch="-gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=[sm_90,compute_90]"
    for major in $(echo "$kinds" | tr ' ' '\n' | sed 's/-.*//' | uniq); do
        root=$(scripts/nvcc.sh $major)
        nvcc=$root/bin/nvcc
        runtime=$major more=
        [ $major != 11 ] || runtime=11.0 more=-allow-unsupported-compiler
        mkdir -p "$dir/lib"
        cp -L "$root/lib/libcudart.so.$runtime" "$dir/lib/"
        for name in "$@"; do
            fits "$name" $major || continue
            new=$dir/$major-shared/$name
            [ "$new" -nt "$src/$name.cu" ] 2>/dev/null || one "$name" "$major" || { echo "kudzu: $name does not build with nvcc $major" >&2; return 1; }
        done
    done
}

run() {
    lib=${KUDZU_LIB:-$PWD/dist/lib}
    bad=0
    tmp=$(mktemp -d)
    for name in "$@"; do
        line=
        for kind in $kinds; do
            fits "$name" "${kind%-*}" || { line="$line -"; continue; }
            want=$src/$name.out # the runtimes answer a few mistakes differently since 13
            [ "${kind%-*}" = 13 ] || [ ! -f "$src/$name.12.out" ] || want=$src/$name.12.out
            if timeout "${KUDZU_APP_SECONDS:-60}" env LD_LIBRARY_PATH="$lib" KUDZU_COMPUTE_CAPABILITY="${KUDZU_COMPUTE_CAPABILITY:-9.0}" "$dir/$kind/$name" >"$tmp/out" 2>"$tmp/err" </dev/null; then rc=0; else rc=$?; fi
            if [ $rc = 0 ] && cmp -s "$tmp/out" "$want"; then
                line="$line ok"
            else
                line="$line no($rc)"
                bad=1
                { echo "== $name $kind: exit $rc"; diff "$want" "$tmp/out" | head -${KUDZU_APP_LINES:-8}; head -${KUDZU_APP_LINES:-8} "$tmp/err"; } >>"$tmp/log"
            fi
        done
        printf '%-14s%s\n' "$name" "$line"
    done
    [ ! -f "$tmp/log" ] || cat "$tmp/log"
    rm -rf "$tmp"
    return $bad
}

"$what" "$@"
