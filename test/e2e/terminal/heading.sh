#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# On a terminal the heading has three lines, the notes on faults, and no word that is broken; -v
# shows all of it, and so do pipes and files.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
PAGER=cat
export PAGER

# trace NAME [LINE...]
trace() {
	name=$1
	shift
	printf '%s\n' 'clock kind=tsc hz=1000000000' command '	string "/bin/program"' \
		'	string "program"' '	string "with-a-long-argument"' \
		'	string "and-one-more-that-is-long"' symbols '	symbol 4096 main' \
		"$@" chunk '	0 enter main' '	100 exit main' end >$name.txt
	"$TEEPERF" dump --assemble $name.txt -o $name.trace
}
trace good
head -c -200 good.trace >bad.trace

# heading COLUMNS FILE [OPTION]: the text above the table, in the file heading.
heading() {
	columns=$1
	shift
	python3 "$lib/terminal.py" "$columns" "$TEEPERF" analyze "$@" >out 2>err </dev/null ||
		[ $? = 1 ]
	sed '/^$/,$d' out >heading
}
heading 100 good.trace
[ "$(wc -l <heading)" -eq 3 ] || fail "the heading: $(cat heading)"
says '^program    program with-a-long-argument and-one-more-that-is-long$' heading
says '^recorded   100 ns, 1 thread, 2 events, ' heading
says '^clock      tsc' heading
heading 50 good.trace
says '^program    program with-a-long-argument …$' heading
for columns in 50 70 100; do
	heading $columns bad.trace -v
	[ "$(wc -L <heading)" -le $columns ] || fail "wider than $columns: $(cat heading)"
	says '^times  |^duration ' heading
	tr -s ' \n' '\n' <heading >words
	"$TEEPERF" analyze bad.trace 2>err | sed '/^$/,$d' | tr -s ' \n' '\n' | diff - words >&2 ||
		fail "words are broken or lost"
	# Faults are shown in any case.
	"$TEEPERF" analyze --format json bad.trace 2>err >json || true
	heading $columns bad.trace
	python3 - json heading <<'END'
import json, sys
notes = json.load(open(sys.argv[1]))["notes"]
text = " ".join(open(sys.argv[2]).read().split())
wrong = [note for note in notes if note["severity"] == "wrong"]
assert wrong, notes
for note in notes:
    assert (" ".join(note["text"].split()) in text) == (note["severity"] == "wrong"), (note, text)
END
done
heading 100 good.trace -v
"$TEEPERF" analyze good.trace | sed '/^$/,$d' | tr -s ' \n' '\n' >all
tr -s ' \n' '\n' <heading | diff all - >&2 || fail "-v leaves something out"
