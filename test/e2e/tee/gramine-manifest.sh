#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that gramine-manifest prints TOML that names the log of 'record --port gramine', and that
# the program which a launcher starts with just what the manifest gives it finds that log. There is
# no Gramine here: the launcher is a script.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
private_shm || true # Gramine's log has one name

# parsed FILE: "KEY VALUE" lines of the manifest's parts.
parsed() {
	python3 - "$1" <<'EOP'
import sys, tomllib
with open(sys.argv[1], "rb") as file:
    manifest = tomllib.load(file)
assert set(manifest) == {"fs", "sgx", "loader"}, manifest
(mount,) = manifest["fs"]["mounts"]
print("mount", mount["type"], mount["path"], mount["uri"])
(allowed,) = manifest["sgx"]["allowed_files"]
print("allowed", allowed)
print("log", manifest["loader"]["env"]["TEEPERF_LOG"])
EOP
}
python3 -c 'import tomllib' 2>/dev/null || skip "no tomllib (Python 3.11)"

expect 0 "$TEEPERF" gramine-manifest
cp out lines.toml
parsed lines.toml >parts
log=$(sed -n 's/^log //p' parts)
says '^mount untrusted_shm /dev/shm dev:/dev/shm$' parts
says "^allowed dev:$log$" parts
expect 0 "$TEEPERF" gramine-manifest --log /dev/shm/db-1.log
cp out lines.toml
parsed lines.toml >parts
says '^log /dev/shm/db-1.log$' parts
says '^allowed dev:/dev/shm/db-1.log$' parts
for bad in /tmp/x /dev/shm/ '/dev/shm/a"b' /dev/shm/../etc/x '' '/dev/shm/a
b'; do
	expect 129 "$TEEPERF" gramine-manifest --log "$bad"
	says '/dev/shm/' err
done
expect 129 "$TEEPERF" gramine-manifest app

# --edit: whatever form the arrays have, the manifest is still TOML, and has its old entries and the
# required ones, once.
cat >edited.py <<'EOP'
import sys, tomllib
name, log = sys.argv[1:]
with open(name + ".before", "rb") as file:
    before = tomllib.load(file)
with open(name, "rb") as file:
    after = tomllib.load(file)
mount = {"type": "untrusted_shm", "path": "/dev/shm", "uri": "dev:/dev/shm"}
mounts = before.get("fs", {}).get("mounts", [])
found = after["fs"]["mounts"]
assert sorted(map(str, found)) == sorted(map(str, mounts + ([] if mount in mounts else [mount]))), found
files = before.get("sgx", {}).get("allowed_files", [])
found = after["sgx"]["allowed_files"]
assert sorted(found) == sorted(set(files) | {"dev:" + log}), found
assert after["loader"]["env"].pop("TEEPERF_LOG") == log
for table, key in (("fs", "mounts"), ("sgx", "allowed_files")):
    del after[table][key]
    before.setdefault(table, {}).pop(key, None)
before.setdefault("loader", {}).setdefault("env", {}).pop("TEEPERF_LOG", None)
assert before == after, (before, after)
EOP
edited() { # NAME: as standard input has it
	cat >"$1.before"
	cp "$1.before" "$1"
	expect 0 "$TEEPERF" gramine-manifest --edit "$1"
	python3 edited.py "$1" "$log" || { cat "$1"; fail "--edit: $1"; }
	cp "$1" once
	expect 0 "$TEEPERF" gramine-manifest --edit "$1"
	says 'already has all lines' err
	cmp once "$1" || fail "a second --edit: $1"
}
printf '' | edited empty
edited dotted <<'EOS'
# a manifest with dotted keys
loader.entrypoint.uri = "file:libos"
loader.env.LD_LIBRARY_PATH = "/lib"
fs.mounts = [ # first comes the library
  { path = "/lib", uri = "file:/usr/lib" },
  { path = "/app", uri = "file:app" }
]
sgx.debug = true
sgx.allowed_files = ["file:data"]
sgx.trusted_files = [
  "file:app",
]
EOS
edited tables <<'EOS'
[loader]
log_level = "error"
entrypoint = { uri = "file:libos" }
[loader.env]
HOME = "/"
[sgx]
debug = true
trusted_files = [ "file:app" ]
[fs.root]
uri = "file:."
[[fs.mounts]]
path = "/lib"
uri = "file:/usr/lib"
[[fs.mounts]]
path = "/app"
uri = "file:app"
[sys]
stack.size = "1M"
EOS
edited some <<'EOS'
libos.entrypoint = "/app"
loader.env.TEEPERF_LOG = "/dev/shm/of-yesterday"
[fs]
mounts = [ { type = "untrusted_shm", path = "/dev/shm", uri = "dev:/dev/shm" } ]
[sgx]
allowed_files = [
	"file:data",
]
EOS
printf 'loader.env = { A = "b" }\n' >inline
cp inline inline.before
expect 1 "$TEEPERF" gramine-manifest --edit inline
says "'inline': line 1: 'loader.env.TEEPERF_LOG' is written in a form that cannot be extended" err
cmp inline inline.before || fail "a manifest that cannot be edited was changed"
expect 1 "$TEEPERF" gramine-manifest --edit missing
says "'missing': cannot read it" err

cat >app.c <<'EOS'
__attribute__((noinline)) static int step(int x) { __asm__ volatile(""); return x + 1; }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum = step(sum);
	return sum != 1000;
}
EOS
"$TEEPERF" cc --port=gramine --clock=soft -O1 app.c -o app
# As a manifest does it: nothing of the environment but what it names.
cat >launcher <<EOS
#!/bin/sh
exec env -i TEEPERF_LOG='$log' "\$@"
EOS
chmod +x launcher
[ ! -e "$log" ] || skip "another recording has '$log'"
expect 0 "$TEEPERF" record --port gramine -o app.trace -- ./launcher ./app
"$TEEPERF" analyze --format csv app.trace >table.csv
says '^"?step"?,1000,' table.csv
says '^"?main"?,1,' table.csv

# The program has another path inside: it is found by its build ID beside the trace, and where the
# recording was started.
mkdir -p start moved
cat >paths <<'EOS'
#!/bin/sh
exec env -i TEEPERF_LOG="$1" "$2"
EOS
chmod +x paths
if readelf -n app | grep -q 'Build ID'; then
	cp app inside
	expect 0 "$TEEPERF" record --port gramine -o app.trace -- ./paths "$log" ./inside
	rm inside
	expect 0 "$TEEPERF" analyze --format csv app.trace
	says '^"?step"?,1000,' out
	mv app.trace moved/
	expect 0 "$TEEPERF" analyze --format csv moved/app.trace
	says '^"?step"?,1000,' out
	# Another build of the same name is not taken.
	"$TEEPERF" cc --port=gramine --clock=soft -O1 -DOTHER -g app.c -o app
	expect 0 "$TEEPERF" analyze --format csv moved/app.trace
	if grep -q '^"*step' out; then fail "names of another build"; fi
	says 'inside.: cannot open it' err
fi
