# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For tests that change which functions are recorded; after e2e.sh. $recorder is the recorder.

# choose VERB WHAT: ask for it, and wait until it is obeyed: on a busy machine that may take longer
# than ctl waits for the program.
choose() {
	"$TEEPERF" ctl "$@" "$recorder" >out 2>err || {
		says 'has not obeyed yet' err
		await_true '"$TEEPERF" ctl status "$recorder" >status && ! grep -q pending status' \
			'a program that obeys'
	}
}
