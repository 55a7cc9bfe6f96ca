#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tables fit the terminal: names are short there, and columns go before names do, which the table
# says. Pipes, files and machines get whole names and all columns.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
unset NO_COLOR COLUMNS
PAGER=cat
export PAGER
tree='std::_Rb_tree<int, std::pair<int const, long>, std::_Select1st<std::pair<int const, long> >, std::less<int> >::find(int const&)'
text='std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::reserve(unsigned long)'
printf '%s\n' 'clock kind=tsc hz=1000000000' symbols "	symbol 4096 \"$tree\"" \
	"	symbol 4112 \"$text\"" '	symbol 4128 main' chunk '	0 enter main' \
	'	10 enter 4096' '	20 enter 4112' '	40 exit 4112' '	90 exit 4096' \
	'	100 exit main' end >a.txt
"$TEEPERF" dump --assemble a.txt -o a.trace

# on COLUMNS COMMAND...: on a terminal so wide.
on() {
	columns=$1
	shift
	expect 0 python3 "$lib/terminal.py" "$columns" "$TEEPERF" "$@" --color=never </dev/null
}
for view in top tree inverted; do
	on 200 analyze --view $view a.trace
	says ' std::_Rb_tree<…>::find' out
	says ' std::string::reserve' out
	! grep -Fq '_Select1st' out || fail "$view: not short: $(cat out)"
	on 300 analyze --view $view --full-names a.trace
	grep -Fq "$tree" out || fail "$view: not whole: $(cat out)"
	expect 0 "$TEEPERF" analyze --view $view a.trace
	grep -Fq "$tree" out && grep -Fq "$text" out ||
		fail "$view: not whole in a file: $(cat out)"
	expect 0 "$TEEPERF" analyze --view $view --format csv a.trace
	grep -Fq "$tree" out || fail "$view: not whole in CSV"
	on 300 analyze --view $view --format json a.trace
	grep -Fq "$tree" out || fail "$view: not whole in JSON, on a terminal"
done
# Where text is not shown as UTF-8, nothing of ours is other than ASCII.
for locale in C POSIX nosuch; do
	(
		LC_ALL=$locale
		export LC_ALL
		on 200 analyze a.trace
		says ' std::_Rb_tree<..>::find' out
		on 72 analyze --columns calls,function --full-names a.trace
		! LC_ALL=C grep '[^ -~]' out || fail "$locale: not ASCII"
	)
done
on 200 diff a.trace a.trace
says ' std::_Rb_tree<…>::find' out
expect 0 "$TEEPERF" query a.trace 'SELECT function FROM functions'
grep -Fq "$tree" out || fail "not whole in SQL"

# The percentiles go first, then columns less important than self time and calls; names last.
on 200 analyze a.trace
says 'p90' out
! grep -q 'no room' out || fail "there is room: $(cat out)"
on 100 analyze a.trace
! grep -Eq '^ *calls.*p90' out || fail "a percentile before a name: $(cat out)"
says '^\(no room for .*p90.*: see --columns\)$' out
says '^ *calls +self .*function' out
on 72 analyze a.trace
says ' std::_Rb_tree<…>::find' out
says '^ *calls +self .*function' out
sed -n '/^ *calls/,$p' out | awk 'length($0) > 90 { exit 1 }' ||
	fail "wider than the terminal: $(cat out)"
expect 0 "$TEEPERF" analyze a.trace
says '^ *calls.*p50.*p90.*function' out
on 72 analyze --columns p90,function a.trace
says '^ *p90  function$' out
! grep -q 'no room' out || fail "the columns were chosen"

# The report has both names.
expect 0 "$TEEPERF" report -o page.html a.trace
python3 - page.html <<'END'
import base64, json, re, sys, zlib
page = open(sys.argv[1], encoding="utf-8").read()
text = re.search(r'id="data-facts"[^>]*>([^<]*)<', page).group(1)
data = base64.b64decode(text)
for wbits in (31, 15, -15):
    try:
        data = zlib.decompress(data, wbits)
        break
    except zlib.error:
        pass
functions = json.loads(data)["functions"]
names = dict(zip(functions["name"], functions["short"]))
assert sorted(map(str, names.values())) == ["0", "std::_Rb_tree<…>::find", "std::string::reserve"], names
END
