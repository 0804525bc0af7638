#!/bin/sh
# Records what a real driver answers: testdata/transcripts/record.sh FOLDER, on a machine with an NVIDIA GPU and gcc. Copy the
# folder's files to want/ afterwards. Names the driver is too old for resolve to nothing; a group that calls one ends in "crash".
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"
bin=$(mktemp -d)
for src in "$here"/*.c; do
	gcc -std=gnu11 -O1 -w -I"$here/../../include" "$src" -o "$bin/$(basename "$src" .c)" \
		-Wl,--unresolved-symbols=ignore-all -l:libcuda.so.1 -lpthread || exit 1
done
for program in "$bin"/*; do
	"$program" | sed "s|^|$program |"
done | xargs -P 8 -L 1 sh -c 'timeout 90 "$0" "$1" >'"$out"'/"$1".txt 2>/dev/null'
rm -rf "$bin"
