# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# For the lint tests, which source this: list the files that the checks are about.

cd "$TEEPERF_SOURCE"
if ! git -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
	echo "this is not a git checkout, so the tree's files are not known"
	exit 77
fi

# The tree's files that match one of the shell PATTERNS, a line each; new files that are not yet
# committed too, so that a mistake shows before the commit.
tree_files() {
	# A deleted file is listed until the deletion is committed.
	git -c safe.directory='*' ls-files --cached --others --exclude-standard -- "$@" |
		while IFS= read -r file; do
			if [ -f "$file" ] && [ ! -L "$file" ]; then
				echo "$file"
			fi
		done
}

# The shell scripts among them, whatever their names.
tree_scripts() {
	tree_files | xargs -d '\n' awk '
		FNR == 1 && /^#!(\/bin\/(ba)?sh|\/usr\/bin\/env bash)/ { print FILENAME }
		FNR == 1 { nextfile }'
}

# What was clean stays so while it, what it is held against and the program that looks are the same:
# build/PRESET/lint/NAME remembers the sums of files that a check has passed.
#
# not_yet_clean NAME SETTINGS...: those of the files on standard input, a line each, that NAME has
# not passed with these SETTINGS, which are words.
not_yet_clean() {
	clean=$TEEPERF_BUILD/lint/$1
	mkdir -p "$TEEPERF_BUILD/lint"
	touch "$clean"
	settings=$(printf '%s\n' "$@" | sha256sum)
	xargs -d '\n' sha256sum | sed "s/^/${settings%% *} /" >"$clean.now"
	grep -Fxv -f "$clean" "$clean.now" | sed 's/^[^ ]* [^ ]*  //'
}

# all_clean NAME: the files that not_yet_clean was given have passed.
all_clean() {
	mv "$TEEPERF_BUILD/lint/$1.now" "$TEEPERF_BUILD/lint/$1"
}
