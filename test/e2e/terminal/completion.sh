#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bash, zsh and fish complete commands, options, values of a fixed set, and files by kind, by the
# scripts that the build has installed. Each shell is asked what Tab would show.
# tier: long
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"
command -v bash >/dev/null || skip "no bash"

mkdir -p bin sub
ln -s "$TEEPERF" bin/teeperf
PATH=$PWD/bin:$PATH
export PATH
touch run.trace run.trace.12 notes.txt hot.allow 'two words.trace'
for shell in bash zsh fish; do
	expect 0 "$TEEPERF" completion $shell
	cp out $shell.script
	share=$(dirname "$TEEPERF")/../share
	[ ! -d "$share/zsh" ] || cmp $shell.script \
		"$(find "$share" -path "*$shell*" -name '*teeperf*' -type f | head -n 1)" ||
		fail "what is installed for $shell is not what 'teeperf completion' prints"
done
expect 129 "$TEEPERF" completion
expect 129 "$TEEPERF" completion ksh

# asked SHELL WORD...: what Tab shows behind the last WORD, in the file out, one a line.
asked_bash() {
	bash --norc --noprofile -c '
		. ./bash.script
		COMP_WORDS=(teeperf)
		for word; do
			# as readline does, "=" is a word
			while [[ $word == -*=* ]]; do
				COMP_WORDS+=("${word%%=*}" "=")
				word=${word#*=}
				[[ $word ]] || continue 2
			done
			COMP_WORDS+=("$word")
		done
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_teeperf
		printf "%s\n" "${COMPREPLY[@]}"' asked "$@" >out 2>err || fail "bash: $(cat err)"
	[ ! -s err ] || fail "bash: $(cat err)"
}
asked_fish() {
	HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD fish --no-config -c '
		source fish.script
		complete -C "teeperf $argv"' "$*" 2>err | cut -f 1 >out || fail "fish: $(cat err)"
	[ ! -s err ] || fail "fish: $(cat err)"
}
asked_zsh() {
	python3 "$lib/zsh_complete.py" zsh.script "teeperf $*" >out 2>err || fail "zsh: $(cat err)"
}

# has WORD... [-- WORD...]: these are among what was shown, and those behind -- are not.
has() {
	wanted=yes
	for word; do
		if [ "$word" = -- ]; then
			wanted=no
			continue
		fi
		found=no
		! grep -Fxq -e "$word" -e "$word/" out || found=yes
		[ $found = $wanted ] ||
			fail "$shell: '$word' shown: $found, wanted: $wanted, of: $(cat out)"
	done
}

check() {
	shell=$1
	asked=asked_$1
	$asked re
	has record report recover -- analyze
	$asked allowlist ch
	has check -- choose
	$asked help an
	has analyze
	$asked analyze --f
	has --family --format --focus --function --fail-if -- --view
	$asked analyze --format ''
	has table csv json -- run.trace
	$asked analyze --view t
	has top tree threads timeline transitions -- run.trace csv
	$asked analyze --sort p
	has p50 p90 p99
	$asked record --clock so
	has soft
	$asked record --port gr
	has gramine
	$asked cc --check ''
	has warn off
	$asked export --format s
	has speedscope sqlite
	$asked fleet ex
	has expire
	$asked allowlist check ''
	has hot.allow sub -- run.trace notes.txt
	$asked analyze ''
	has run.trace run.trace.12 sub -- notes.txt
	$asked analyze n
	has notes.txt # where no file is of the kind, any
	$asked doctor --root ''
	has sub -- run.trace
	$asked completion ''
	has bash zsh fish -- run.trace
	$asked allowlist list ''
	has -- run.trace
}

check bash
asked_bash analyze --format=
has table csv json
asked_bash analyze --format=c
has csv -- table
asked_bash analyze --format csv --view=tr
has tree -- top
asked_bash analyze -- --f
has -- --format
asked_bash record -o run.trace ech
has echo
asked_bash record -o run.trace -- ech
has echo
asked_bash record echo not
has notes.txt -- --only
asked_bash analyze two
has 'two words.trace'
asked_bash record --compress ''
has -- 1
# A '=' that is no border of words.
bash --norc --noprofile \
	-c '. ./bash.script; COMP_WORDS=(teeperf analyze --format=c); COMP_CWORD=2; _teeperf
	printf "%s\n" "${COMPREPLY[@]}"' >out
has --format=csv
# Each option of each command is in the script, and each choice.
expect 0 "$TEEPERF" record --help
sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' out >options
asked_bash record --
sort out >shown
sort options | diff - shown >&2 || fail "options of record"

shells=bash
if command -v fish >/dev/null; then
	check fish
	shells="$shells fish"
fi
if command -v zsh >/dev/null; then
	check zsh
	shells="$shells zsh"
fi
echo "completed by: $shells"
[ "$shells" = 'bash fish zsh' ] || skip "not in all shells: only in $shells"
