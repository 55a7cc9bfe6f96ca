# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions for tests of teeperf tui; after e2e.sh.
command -v tmux >/dev/null || skip "tmux is not there: run tools/setup"
if "$TEEPERF" tui nothing.trace 2>&1 </dev/null | grep -q 'built without ncurses'; then
	skip "this teeperf was built without ncurses"
fi

# tui_walk WHAT...: tui_walk.py, and neither a server of tmux nor $recorder and $program stay
# behind where it fails.
tui_walk() {
	trap 'end_servers; kill ${recorder:-} ${program:-} 2>/dev/null || :' EXIT
	python3 "$lib/tui_walk.py" "$@" || fail "$*"
	trap - EXIT
}

end_servers() {
	for server in tmux-*.sock; do
		tmux -S "$server" kill-server 2>/dev/null || :
	done
}
