#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A stranger's way: the tarball's packages build in a bare Debian with what Build-Depends names,
# lintian finds nothing, and in another bare Debian 'apt install ./*.deb' is all that compiling,
# recording, reports, GDB and Python need. Removed and purged, they leave nothing. Needs root and
# Debian's mirrors; takes a quarter of an hour. PROFILES: build profiles.
# tier: full
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

[ "$(id -u)" = 0 ] || skip "not root, whom debootstrap and chroot need"
git -C "$root" -c safe.directory='*' rev-parse -q --verify HEAD >/dev/null 2>&1 ||
	skip "this is not a git checkout"
bare=$root/build/packages
rm -rf "$bare/out"
mkdir -p "$bare/out" give
tarball=$("$root/tools/dist" "$PWD/give")
echo "PROFILES=${PROFILES-pkg.teeperf.llvm16,pkg.teeperf.llvm22}" >give/profiles

# How long each step takes is for who reads the log.
cat >steps <<'STEPS'
set -eu
export DEBIAN_FRONTEND=noninteractive
step() {
	name=$1
	shift
	start=$(date +%s)
	"$@" >"/mnt/out/$name.log" 2>&1 </dev/null || {
		tail -n 40 "/mnt/out/$name.log"
		echo "FAILED: $name"
		exit 1
	}
	echo "== $name: $(($(date +%s) - start)) s"
}
apt_install() {
	apt-get install -y -q --no-install-recommends "$@"
}
STEPS

cat steps - >build.sh <<'BUILD'
. /mnt/repository/profiles
step lists apt-get update -q
step tools apt_install build-essential dpkg-dev fakeroot lintian xz-utils
tar -xf /mnt/repository/teeperf-*.tar.xz
cd teeperf-*
step build-dep apt-get build-dep -y -q --no-install-recommends ${PROFILES:+-P "$PROFILES"} ./
step build dpkg-buildpackage -b -us -uc -Pnocheck${PROFILES:+,$PROFILES}
cd ..
step lintian lintian --allow-root --display-info --fail-on error,warning,info ./*.changes
cp ./*.deb /mnt/out/
BUILD
"$root/tools/bare-debian" "$bare" build.sh "$PWD/give" || fail 'the packages do not build'
grep -Ev '^N:' "$bare/out/lintian.log" || echo 'lintian: nothing'
for package in teeperf libteeperf-dev teeperf-plugin-19 teeperf-gdb python3-teeperf; do
	[ -f "$(ls "$bare/out/${package}"_*.deb)" ] || fail "there is no package $package"
done

mkdir -p give/debs
mv "$bare"/out/*.deb give/debs/
rm -f give/debs/*dbgsym*
cp "$root/debian/tests/record" give/
cat steps - >use.sh <<'USE'
step lists apt-get update -q
ours() {
	find / -xdev \( -path /proc -o -path /sys -o -path /mnt -o -path /root -o -path /tmp \) -prune -o -iname '*teeperf*' -print
}
[ -z "$(ours)" ]
step install apt_install /mnt/repository/debs/*.deb
dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' '*teeperf*'
echo "installed: $(ours | wc -l) names"
mkdir -p /root/try
cd /root/try
AUTOPKGTEST_TMP=/root/try sh /mnt/repository/record
cd /root
step doctor teeperf doctor
grep -E 'clang|plugin|runtime' /mnt/out/doctor.log || true

# What an administrator makes for the unit stays when the package is removed, and goes when it is purged.
mkdir -p /var/lib/teeperf/server /etc/systemd/system/multi-user.target.wants
echo trace >/var/lib/teeperf/server/1.trace
echo 'TEEPERF_OPTIONS=--every 10m' >/etc/default/teeperf
ln -s /lib/systemd/system/teeperf@.service /etc/systemd/system/multi-user.target.wants/teeperf@server.service
names=$(dpkg-query -W -f '${Package}\n' '*teeperf*')
step remove apt-get remove -y -q $names
[ -s /var/lib/teeperf/server/1.trace ]
[ -s /etc/default/teeperf ]
echo "removed: $(ours | grep -v '^/var/lib/dpkg/' | tr '\n' ' ')"
known() {
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' '*teeperf*' 2>/dev/null | sed -n 's/^\(installed\|config-files\) //p'
}
step purge dpkg --purge $(known)
left=$(ours)
if [ -n "$left$(known)" ]; then
	echo "FAILED: purged, and still there: $left $(known)"
	exit 1
fi
echo 'purged: nothing is left'
USE
"$root/tools/bare-debian" "$bare" use.sh "$PWD/give" || fail 'the packages do not work'
