# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=sh
#
# For the lint tests, which source this: list the files that the checks are about.

cd "$TEEPERF_SOURCE"

# The tree's files that match one of the shell PATTERNS, a line each; new files that are not yet
# committed too, so that a mistake shows before the commit.
tree_files() {
	if git -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
		git -c safe.directory='*' ls-files --cached --others --exclude-standard -- "$@"
	else
		echo "this is not a git checkout, so the tree's files are not known"
		exit 77
	fi | while IFS= read -r file; do
		# A deleted file is listed until the deletion is committed.
		if [ -f "$file" ] && [ ! -L "$file" ]; then
			echo "$file"
		fi
	done
}

# The shell scripts among them, whatever their names.
tree_scripts() {
	tree_files | while IFS= read -r file; do
		case $(head -c 64 "$file" | head -n 1 | tr -d '\000') in
		'#!/bin/sh'* | '#!/bin/bash'* | '#!/usr/bin/env bash'*) echo "$file" ;;
		esac
	done
}
