#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that 'export --push' speaks the protocols of Pyroscope and Parca, as a small server of ours
# checks them field by field; that the profile which arrives has the sums of 'analyze', with its
# labels; and that a server's refusal is reported with the address and the remedy. Neither Pyroscope
# nor Parca itself is run.
# tier: quick
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
needs protoc

for case in two-threads compensated recursion; do
	"$TEEPERF" dump --assemble "$root/test/golden/$case/trace.txt" -o $case.trace
done
awk '{ print } /^host$/ { print "\tline \"host=golden-machine\"" }' \
	"$root/test/golden/compensated/trace.txt" >named.txt
"$TEEPERF" dump --assemble named.txt -o named.trace || fail "$(cat named.txt)"
printf 'pass word\nwhatever\n' >password
printf 'abc.def\n' >token
printf 'a\tb\n' >bad
set -- two-threads.trace compensated.trace recursion.trace named.trace
python3 "$lib/export_push.py" "$TEEPERF" "$@" >said || fail "$(cat said)"
cat said

while read -r wrong; do
	# shellcheck disable=SC2086 # words
	expect 129 "$TEEPERF" export --format pprof $wrong recursion.trace
done <<'EOS'
--push 127.0.0.1:4040
--push ftp://127.0.0.1
--push http://localhost@127.0.0.1
--push http://127.0.0.1/?a=b
--push http://127.0.0.1 -o here
--push http://127.0.0.1 --label a
--push http://127.0.0.1 --label a=
--push http://127.0.0.1 --label 1a=b
--push http://127.0.0.1 --label a-b=c
--push http://127.0.0.1 --label a=b --label a=c
--push http://127.0.0.1 --password-file password
--push http://127.0.0.1 --user a:b
--push http://127.0.0.1 --user a --token-file token
--push http://127.0.0.1 --retries x
--push http://127.0.0.1 --server zipkin
--label a=b
--server parca
--user me
--token-file token
--tenant a
--cacert a
--retries 1
EOS
expect 129 "$TEEPERF" export --format folded --push http://127.0.0.1 recursion.trace
says "profile servers do not accept 'folded'" err
nobody=http://127.0.0.1:1
expect 1 "$TEEPERF" export --format pprof --push $nobody --user me --password-file nowhere \
	recursion.trace
says "nowhere.*cannot read the password" err
expect 1 "$TEEPERF" export --format pprof --push $nobody --token-file bad recursion.trace
says "bad.*the token has a control character" err
[ ! -e recursion.trace.pb.gz ] || fail "a file was written"
