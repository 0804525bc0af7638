#!/bin/sh
# Opt-in: programs of others on Kudzu, unmodified, each case against the program's own CPU path. scripts/apps/clients.txt has them.
#   scripts/apps/clients.sh [PART|CLIENT[:CAPABILITY]...]   the newest release is fetched once; default: every part
#   scripts/apps/clients.sh parts                           the names of the parts
#   scripts/apps/clients.sh install [PART|CLIENT...]        only fetches
#   scripts/apps/clients.sh ptxas                           times our ptxas and NVIDIA's on the kernels that Triton left in its caches
#   scripts/apps/clients.sh page                            writes docs/apps/README.md and docs/apps/zclients.md from the rows that there are
# CASES="name 'a name of words'" runs only these. A case that has a row is not run again: a run that was stopped continues. AGAIN=1 starts anew,
# with empty caches; WARM=1 runs the cases once more, in new processes with the caches that there are, into rows of its own.
# Environments, caches and rows are in $KUDZU_APPS/clients (~/.cache/kudzu-apps/clients); KUDZU_DIST names ours.
set -eu
cd "$(dirname "$0")/../.."
dist=${KUDZU_DIST:-$PWD/dist}
export KUDZU_APPS="${KUDZU_APPS:-${XDG_CACHE_HOME:-$HOME/.cache}/kudzu-apps}" KUDZU_DIST="$dist"
apps=$KUDZU_APPS/clients
mkdir -p "$apps/rows" "$apps/cache"

clients() { grep -v '^#' scripts/apps/clients.txt; }

# names PART|CLIENT: the clients that are meant. Where a client has the name of a part, NAME:CAPABILITY means it alone.
names() {
    clients | awk -v n="$1" '{sub("^-", "", $2)} $2 == n {part = part $1 "\n"} $1 == n {one = n "\n"} END {printf "%s", part != "" ? part : one}' |
        grep . || { echo "clients: there is no part or client $1" >&2; return 2; }
}

# environment NAME PACKAGE...: of PyPI, for this machine's Python.
environment() {
    at=$apps/$1
    shift
    [ ! -e "$at/ready" ] || return 0
    echo "clients: fetching $*" >&2
    rm -rf "$at"
    "${PYTHON:-python3}" -m venv "$at" && "$at/bin/pip" install -q --disable-pip-version-check "$@" && touch "$at/ready"
}

# install NAME WHERE ENV PACKAGE...; the variables of the row, which stand among the packages, are exported.
install() {
    where=$2 env=$3 list=''
    shift 3
    for p; do
        case $p in
        KUDZU_*=*) export "${p?}" ;;
        *) list="$list $p" ;;
        esac
    done
    # shellcheck disable=SC2086
    set -- $list
    case $where in
    pypi) environment "$env" "$@" ;;
    debian13) scripts/apps/torch.sh --install "$env" "$@" ;;
    *) echo "clients: $where is neither pypi nor debian13" >&2; return 2 ;;
    esac
}

# program NAME WHERE ENV FILE: runs the cases once, into the file of rows. The client's caches and ours are below HOME.
program() {
    export CLIENT="$1" PYTHONWARNINGS=ignore
    script=scripts/apps/client_${1%@*}.py where=$2 env=$3 file=$4
    eval "set -- ${CASES:-}"
    if [ "$where" = pypi ]; then
        HOME=$cache XDG_CACHE_HOME=$cache TORCHINDUCTOR_CACHE_DIR=$cache/inductor ROWS=$file \
            timeout "${KUDZU_APP_SECONDS:-1500}" "$dist/bin/kudzu" run --stats="$file.stats" -- "$apps/$env/bin/python" "$script" "$@"
    else
        in=/out/${cache#"$apps/"}
        XDG_CACHE_HOME=$in TORCHINDUCTOR_CACHE_DIR=$in/inductor ROWS=/out/rows/${file##*/} \
            timeout "${KUDZU_APP_SECONDS:-1500}" scripts/apps/torch.sh --env="$env" --home="$in" --stats="/out/rows/${file##*/}.stats" "$apps" "$script" "$@"
    fi
}

# client NAME CAPABILITY: fails where a row does.
client() {
    # shellcheck disable=SC2046
    set -- "$2" $(clients | awk -v n="$1" '$1 == n')
    capability=$1 name=$2 where=$4 env=$5 cache=$apps/cache/$2-$1 rows=$apps/rows/$2-$1.rows
    shift 6
    install "$name" "$where" "$env" "$@" || return 1
    if [ -n "${WARM:-}" ]; then rows=${rows%.rows}.warm && rm -f "$rows" "$rows.running"; fi
    if [ -z "${WARM:-}" ] && { [ ! -e "$rows" ] || [ -n "${AGAIN:-}" ]; }; then rm -rf "$rows" "$rows.running" "$cache"; fi
    mkdir -p "$cache"
    if [ "$capability" = - ]; then unset KUDZU_COMPUTE_CAPABILITY; else export KUDZU_COMPUTE_CAPABILITY="$capability"; fi
    # A case that failed ends its process, and one that crashed did: the others run in a new one.
    while :; do
        rc=0 was=$(cat "$rows.running" 2>/dev/null || true)
        program "$name" "$where" "$env" "$rows" || rc=$?
        [ $rc = 0 ] && break
        [ $rc = 75 ] || { [ -e "$rows.running" ] && [ "$(cat "$rows.running")" != "$was" ]; } || return $rc
    done
    ! grep -qE '"status": "(wrong|failed)"' "$rows"
}

# each PART|CLIENT: at every capability of the row.
each() {
    list=$(names "$1") || return 2
    failed=0
    for n in $list; do
        for c in $(clients | awk -v n="$n" '$1 == n {gsub(",", " ", $5); print $5}'); do (client "$n" "$c") || failed=1; done
    done
    return $failed
}

fetch() {
    failed=0
    [ $# -gt 0 ] || set -- $(parts)
    for n; do
        list=$(names "$n") || return 2
        for c in $list; do
            # shellcheck disable=SC2046
            install $(clients | awk -v n="$c" '$1 == n {$2 = $5 = ""; print}') || failed=1
        done
    done
    return $failed
}

parts() { clients | awk '$2 !~ /^-/ && !had[$2]++ {print $2}'; }

# NVIDIA's assembler, to measure ours against: nothing else uses it.
ptxas() {
    environment ptxas nvidia-cuda-nvcc || return 1
    theirs=$(find "$apps/ptxas/lib" -name ptxas -type f) && [ -n "$theirs" ] || { echo "clients: the package has no ptxas" >&2; return 1; }
    "${PYTHON:-python3}" scripts/apps/ptxas.py "$dist/bin/ptxas" "$theirs" "$apps/cache" "$apps/rows/ptxas.json"
}

# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(parts)
case $1 in
parts) parts && exit ;;
install) shift && { fetch "$@" && exit || exit; } ;;
esac
bad=0
for what; do
    case $what in
    ptxas) ptxas || bad=1 ;;
    page) "${PYTHON:-python3}" scripts/apps/page.py "$apps/rows" || bad=1 ;;
    *:*) (client "${what%:*}" "${what#*:}") || bad=1 ;;
    *) each "$what" || bad=1 ;;
    esac
done
exit $bad
