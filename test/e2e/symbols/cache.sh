#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that names and lines are kept by build ID and read back unchanged, without the program;
# that a damaged file is reported, not used, and replaced; that nothing is kept of programs without
# an ID or with the option against it; and that debug files are fetched on request, and only then.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
unset DEBUGINFOD_URLS

cat >app.cpp <<'EOS'
#define KEEP __attribute__((noinline))
namespace n {
template <typename T> KEEP T twice(T x) { asm volatile(""); return 2 * x; }
KEEP int step(int x) { asm volatile(""); return twice(x) + (int)twice(2.5); }
}
extern "C" KEEP int rare(int x) { asm volatile(""); return x / 2; }
int main(int count, char **) { return count > 1 ? rare(count) == 77 : n::step(count) == 77; }
EOS
expect 0 "$TEEPERF" c++ -g -O1 app.cpp -Wl,--build-id -o app
expect 0 "$TEEPERF" record -q -o one.trace -- ./app
expect 0 "$TEEPERF" record -q -o two.trace -- ./app rare

# table OUT ARGS...: the functions of a trace.
table() {
	csv=$1
	shift
	expect 0 "$TEEPERF" analyze --format csv "$@"
	cut -d, -f1,2,7-11 out >"$csv"
	# On a busy machine it may say that the program had no processor.
	but_busy err
}
kept() {
	find cache -type f ! -name 'cost-*' 2>/dev/null | sort
}

table plain.one --no-symbol-cache one.trace
table plain.two --no-symbol-cache two.trace
says '^n::step\(int\),1,app,.*/app\.cpp,4,_ZN1n4stepEi,' plain.one
says '^rare,1,app,.*/app\.cpp,6,rare,' plain.two
[ -z "$(kept)" ] || fail "--no-symbol-cache leaves $(kept)"

# New names are kept, kept ones are used: even when the program is gone.
table first one.trace
[ ! -s err ] || fail "said: $(cat err)"
cmp plain.one first || fail "other names when they are kept"
[ "$(kept | wc -l)" = 1 ] || fail "not one file: $(kept)"
file=$(kept)
id=$(readelf -n app | sed -n 's/.*Build ID: //p')
[ "$file" = "cache/teeperf/$id.symbols" ] || fail "it is '$file'"
mkdir -p away && mv app away/ # not beside the trace: it would be found
table again one.trace
[ ! -s err ] || fail "said: $(cat err)"
cmp plain.one again || fail "other names from the cache"
table without --no-symbol-cache one.trace
says "'.*/app': cannot open it" err
! grep -q step without || fail "--no-symbol-cache uses the cache"

# Another trace has one more function: it is added, and the others stay.
table less two.trace
says "'.*/app': cannot open it" err
grep -q '^main,1,app,.*app\.cpp,7,main,' less ||
	fail "what is kept is not used when something is missing"
! grep -q rare less || fail "a name from nowhere"
mv away/app app
table more two.trace
cmp plain.two more || fail "other names after adding"
mkdir -p away && mv app away/ # not beside the trace: it would be found
for trace in one two; do
	table again $trace.trace
	[ ! -s err ] || fail "said: $(cat err)"
	cmp plain.$trace again || fail "other names from the cache of both"
done

# Damage is reported, and costs nothing but time.
mv away/app app
cp "$file" sound
printf 'x' | dd of="$file" bs=1 seek=150 conv=notrunc 2>/dev/null
! cmp -s "$file" sound || printf 'y' | dd of="$file" bs=1 seek=150 conv=notrunc 2>/dev/null
table again two.trace
says "$id.symbols': the symbol cache is damaged, or of another version; it is not used" err
cmp plain.two again || fail "other names when the cache is damaged"
table again two.trace
[ ! -s err ] || fail "the damaged cache was not replaced: $(cat err)"
: >"$file"
table again two.trace
says "the symbol cache is damaged" err
# What only pretends to be a file.
rm "$file"
mkfifo "$file"
table again two.trace
cmp plain.two again || fail "other names with a pipe for a cache"
rm -f "$file"

# Without an ID there is nothing to find it by again.
rm -rf cache
expect 0 "$TEEPERF" c++ -g -O1 app.cpp -Wl,--build-id=none -o app.none
expect 0 "$TEEPERF" record -q -o none.trace -- ./app.none
table again none.trace
[ -z "$(kept)" ] || fail "kept without an ID: $(kept)"
# Without debug information, either: it may turn up.
cp app app.whole
strip -g app
table again one.trace
says "no debug information" err
[ -z "$(kept)" ] || fail "kept without lines: $(kept)"

# Debug files from servers: the command is asked with the ID, when it is wanted.
mkdir bin
cat >bin/debuginfod-find <<EOS
#!/bin/sh
echo "\$@" >>"$PWD/asked"
[ "\$*" = "debuginfo $id" ] && echo "$PWD/fetched"
EOS
chmod +x bin/debuginfod-find
objcopy --only-keep-debug app.whole fetched
PATH=$PWD/bin:$PATH
export PATH
DEBUGINFOD_URLS=http://127.0.0.1:1/ table again one.trace
[ ! -e asked ] || fail "a server was asked without --debuginfod"
table again --debuginfod one.trace
says "'.*/app': --debuginfod: no server is named; set DEBUGINFOD_URLS" err
DEBUGINFOD_URLS=http://127.0.0.1:1/
export DEBUGINFOD_URLS
table again --debuginfod one.trace
[ ! -s err ] || fail "said: $(cat err)"
cmp plain.one again || fail "other names from a server"
[ "$(cat asked)" = "debuginfo $id" ] || fail "asked for $(cat asked)"
# Kept names need not be fetched again.
table again --debuginfod one.trace
[ "$(wc -l <asked)" = 1 ] || fail "asked again"
rm -rf cache
cp app.none fetched
table again --debuginfod one.trace
says "'.*/fetched': not the debug file of '.*/app' \(its build ID differs\); it is not used" err
sed -i 's/^\[.*/exit 1/' bin/debuginfod-find
table again --debuginfod one.trace
says "--debuginfod: no server in DEBUGINFOD_URLS has the debug file of build ID $id" err
rm bin/debuginfod-find
command -v debuginfod-find >/dev/null || {
	table again --debuginfod one.trace
	says "--debuginfod: cannot find 'debuginfod-find'" err
}

# Odd names are not kept, nor is a folder with such a name taken for damaged.
rm -rf cache
expect 0 "$TEEPERF" cc -g -O1 "$lib/odd_symbols.c" -Wl,--build-id -o odd
expect 0 "$TEEPERF" record -q -o odd.trace -- ./odd
for look in first second; do
	table $look odd.trace
	! grep 'symbol cache' err || fail "the $look look: $(cat err)"
done
cmp first second
