#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that gramine-manifest prints TOML that names the log of 'record --port gramine', and that the program
# which a launcher starts with just what the manifest gives it finds that log. There is no Gramine here: the
# launcher is a script.
set -eu
. "$(dirname "$0")/../lib/e2e.sh"

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
