#!/bin/bash
# Runs the README's two commands on bare machines: Debian 12 and Debian 13 as debootstrap makes them, with make, sudo and
# certificates and nothing else, Go copied from this machine, and a clean clone of HEAD; as root, and as an ordinary user
# who may use sudo. Prints a table of verdicts; logs are in .build/fresh. Fails if a command failed.
#   ROOT="12 13"  WHO="root user"  CMD="run test"   only these
#   KEEP=1        leaves the roots that were used (they are named), to look around in them with chroot
#   KUDZU_FRESH   where roots and packages are kept (/var/tmp/kudzu-fresh); a base root is made again after a week
# Mirrors, suites and proxies are those of this machine's apt. It needs root, or sudo without a password, and a Debian of
# its own; a machine of another kind names a mirror: MIRROR=http://… SECURITY=http://….
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A codename=([12]=bookworm [13]=trixie)
roots=${ROOT:-12 13} users=${WHO:-root user} commands=${CMD:-run test}
store=${KUDZU_FRESH:-/var/tmp/kudzu-fresh}
logs=$PWD/.build/fresh
say() { echo "fresh: $*" >&2; }
die() { say "$@"; exit 1; }
for r in $roots; do [ -n "${codename[$r]:-}" ] || die "ROOT=$r: there are ${!codename[*]}"; done
for w in $users; do case $w in root | user) ;; *) die "WHO=$w: there are root and user" ;; esac; done
for c in $commands; do case $c in run | test) ;; *) die "CMD=$c: there are run and test" ;; esac; done

# attend COMMAND: runs it so that a signal to this script is not kept waiting until the command ends, and ends the command.
child=
attend() {
	"$@" <&0 &
	child=$!
	local code=0
	wait "$child" || code=$?
	child=
	return $code
}
trap 'exit 130' INT TERM HUP
over() { [ -z "$child" ] || { kill "-$1" "$child" && wait "$child"; } 2>/dev/null || true; }

# What belongs to the caller is asked for before sudo changes who that is.
if [ -z "${FRESH_STAGE:-}" ]; then
	mkdir -p "$logs"
	FRESH_STAGE=$(mktemp -d)
	trap 'over TERM; rm -rf "$FRESH_STAGE"' EXIT
	git clone -q --no-local . "$FRESH_STAGE/kudzu"
	git -C "$FRESH_STAGE/kudzu" remote remove origin
	export FRESH_STAGE FRESH_GO
	FRESH_GO=$(go env GOROOT)
	for v in GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE; do printf '%s=%q\n' "$v" "$(go env $v)"; done >"$FRESH_STAGE/env"
	for v in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
		[ -z "${!v:-}" ] || printf '%s=%q\n' "$v" "${!v}" >>"$FRESH_STAGE/env"
	done
	sudo=()
	# shellcheck disable=SC2054 # the commas belong to sudo
	[ "$(id -u)" = 0 ] || sudo=(sudo -n --preserve-env=FRESH_STAGE,FRESH_GO,ROOT,WHO,CMD,KEEP,KUDZU_FRESH,MIRROR,SECURITY,http_proxy,https_proxy,no_proxy)
	attend "${sudo[@]}" "$PWD/scripts/fresh.sh"
	exit
fi

export PATH=$PATH:/usr/sbin:/sbin
for c in debootstrap unshare chroot tar; do command -v $c >/dev/null || die "$c is missing (Debian: apt-get install debootstrap util-linux)"; done
mkdir -p "$store"
proxy=$(apt-config dump 2>/dev/null | sed -n 's/^Acquire::http::Proxy "\([^"]*\)";$/\1/p')

# sources CODENAME: lines for sources.list, as this machine's apt has them, for another release.
sources() {
	if [ -n "${MIRROR:-}" ]; then
		echo "deb $MIRROR $1 main"
		echo "deb $MIRROR $1-updates main"
		[ -z "${SECURITY:-}" ] || echo "deb $SECURITY $1-security main"
		return
	fi
	local here
	here=$(. /etc/os-release && echo "${ID:-}:${VERSION_CODENAME:-}")
	[ "${here%%:*}" = debian ] || die "this machine is no Debian: name a mirror with MIRROR= and SECURITY="
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' | sort -u |
		sed -nE "s/^([^ ]+) (${here#*:}|stable|oldstable)(|-updates|-security) main\$/deb \1 $1\3 main/p"
}

# The mounts belong to the namespaces of the command, and the namespaces end with it: nothing is left to unmount, whatever
# happens, and no process either.
inside() { attend unshare --mount --pid --fork --kill-child --propagation private -- /bin/bash -euo pipefail -c "$enter" enter "$@"; }
# shellcheck disable=SC2016
enter='
root=$1 archives=$2; shift 2
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=755 dev "$root/dev"
for n in null zero full random urandom tty; do touch "$root/dev/$n"; mount --bind "/dev/$n" "$root/dev/$n"; done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for n in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${n#*:}" "$root/dev/${n%:*}"; done
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mkdir -p "$root/var/cache/apt/archives"
mount --bind "$archives" "$root/var/cache/apt/archives"
chroot "$root" "$@" || exit $? # this shell stays: a process that becomes another user outlives unshare
exit 0
'

# base VERSION: file becomes the tar file of a bare root, which is made if there is none or it is a week old.
base() {
	local name=${codename[$1]} list sum work mirror
	list=$(sources "$name")
	mirror=$(sed -n "s/^deb \([^ ]*\) $name main\$/\1/p;" <<<"$list" | head -n 1)
	[ -n "$mirror" ] || die "no mirror for $name in this machine's apt"
	sum=$(cksum <<<"$list $proxy" | cut -d' ' -f1)
	file=$store/debian-$1-$sum.tar
	if [ -z "$(find "$file" -mtime -7 2>/dev/null)" ]; then
		say "making a bare Debian $1"
		rm -rf --one-file-system "$store/making-$1"
		work=$store/making-$1
		mkdir -p "$work" "$store/archives-$1/partial"
		attend env ${proxy:+http_proxy="$proxy"} debootstrap --variant=minbase --include=make,ca-certificates,sudo "$name" "$work" "$mirror" >"$logs/debootstrap-$1.log" 2>&1 ||
			{ tail -n 20 "$logs/debootstrap-$1.log" >&2; die "debootstrap failed"; }
		rm -f "$work"/etc/apt/sources.list.d/* "$work"/var/cache/apt/archives/*.deb
		echo "$list" >"$work/etc/apt/sources.list"
		apt-config dump 2>/dev/null | grep -E '^Acquire::(https?::Proxy(::[^ ]*)?|Check-Valid-Until) ' >"$work/etc/apt/apt.conf.d/99host" || true
		cp -L /etc/resolv.conf "$work/etc/resolv.conf"
		echo "127.0.0.1 localhost $(hostname)" >"$work/etc/hosts"
		# Certificates that the administrator of this machine added: its proxy may need them.
		cp -L /usr/local/share/ca-certificates/*.crt "$work/usr/local/share/ca-certificates/" 2>/dev/null || true
		cat >"$work/finish" <<-'END'
			export DEBIAN_FRONTEND=noninteractive
			update-ca-certificates
			apt-get update
			apt-get -y upgrade
			rm -rf /var/lib/apt/lists/*
			useradd -m -s /bin/sh user
			echo 'user ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/user
			chmod 440 /etc/sudoers.d/user
		END
		inside "$work" "$store/archives-$1" /bin/sh -e /finish >>"$logs/debootstrap-$1.log" 2>&1 ||
			{ tail -n 20 "$logs/debootstrap-$1.log" >&2; die "the bare root could not be finished"; }
		rm -f "$work/finish"
		rm -f "$store/debian-$1-"*.tar
		tar -C "$work" -cf "$file.new" . && mv "$file.new" "$file"
		rm -rf --one-file-system "$work"
	fi
}

used=()
tidy() {
	local d
	over KILL # unshare waits for its child on any other signal; with it, all processes of its namespaces end
	for d in "${used[@]}"; do
		if [ -n "${KEEP:-}" ]; then say "$d is kept"; else rm -rf --one-file-system "$d"; fi
	done
}
trap tidy EXIT

failed=0
table=()
for r in $roots; do
	base "$r"
	for w in $users; do
		dir=$(mktemp -d "$store/run-$r-$w-XXXXXX")
		used+=("$dir")
		chmod 755 "$dir"
		tar -C "$dir" -xpf "$file"
		mkdir -p "$dir/usr/local/go"
		cp -a "$FRESH_GO/." "$dir/usr/local/go/"
		home=/root
		[ "$w" = root ] || home=/home/user
		cp -a "$FRESH_STAGE/kudzu" "$dir$home/kudzu"
		chown -R --reference="$dir$home" "$dir$home/kudzu"
		# As a login would be: this environment and no other.
		{
			cat "$FRESH_STAGE/env"
			echo "PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
			echo "HOME=$home USER=$w LOGNAME=$w"
		} | sed 's/^/export /' >"$dir/profile"
		as=()
		[ "$w" = root ] || as=(setpriv --reuid user --regid user --init-groups --)
		for c in $commands; do
			log=$logs/$r-$w-$c.log
			say "Debian $r, $w: make $c"
			start=$SECONDS verdict=ok
			inside "$dir" "$store/archives-$r" "${as[@]}" /usr/bin/env -i /bin/sh -c ". /profile; cd $home/kudzu && make $c" >"$log" 2>&1 </dev/null || verdict=FAIL
			took=$((SECONDS - start))
			inside "$dir" "$store/archives-$r" "${as[@]}" /usr/bin/env -i /bin/sh -c ". /profile; $home/kudzu/dist/bin/kudzu info" >"$dir/info" 2>&1 </dev/null || true
			llvm=$(sed -n 's/^compiler *libLLVM \([^ ]*\).*/\1/p' "$dir/info")
			table+=("$(printf '%-10s %-5s %-10s %-8s %7d  %s' "Debian $r" "$w" "make $c" "$verdict" "$took" "${llvm:-none}")")
			if [ "$verdict" != ok ]; then
				failed=$((failed + 1))
				say "Debian $r, $w: make $c FAILED after $took s; $log:"
				{ grep -E '^(--- FAIL|FAIL|panic:|make.*Error)|kudzu: ' "$log" || tail -n 20 "$log"; } | head -n 40 >&2
			fi
		done
		[ -n "${KEEP:-}" ] || rm -rf --one-file-system "$dir"
	done
done

echo
printf '%-10s %-5s %-10s %-8s %7s  %s\n' root user command verdict seconds LLVM
printf '%s\n' "${table[@]}"
[ "$failed" = 0 ] || die "$failed of ${#table[@]} FAILED"
