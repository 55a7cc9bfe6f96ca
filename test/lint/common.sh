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
