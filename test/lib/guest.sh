# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions for tests with a virtual machine and this machine's recorder; after e2e.sh and calls.sh.
# Programs for the machine are in ./vm, its memory is ./memory, its port 'teeperf' is connected to
# ./stream.

. "$lib/waits.sh"
began=$(date +%s)
mkdir -p vm

# at_work WHAT: a line with the time that has passed.
at_work() {
	echo "$1 ($(($(date +%s) - began)) s)"
}

# guest COMMAND FOLDER ARGUMENTS...: lib/machine.py.
guest() {
	python3 "$lib/machine.py" "$@"
}

# machine MACHINE ARCHITECTURE [TARGET]: QEMU's name for it, Debian's, and what to compile for it
# with. Leaves $kernel and ./init; skips the test where there is none.
machine() {
	machine=$1
	target=${3:-}
	command -v "qemu-system-$machine" >/dev/null ||
		skip "qemu-system-$machine is not there: run tools/setup --machines"
	kernel=$("$root/tools/fetch-kernel" "$2" 2>fetch.log) || {
		cat fetch.log >&2
		skip "Debian's kernel cannot be fetched here"
	}
	# shellcheck disable=SC2086 # words are meant
	expect 0 "$TEEPERF" cc --level=off $target -static -O1 \
		"$root/test/tee/machine_init.c" -o init
	truncate -s 64M memory
	trap 'guest kill on 2>/dev/null || true' EXIT
	trap 'exit 1' HUP INT TERM
}

# start FILES...: the machine, with these and the files in ./vm.
start() {
	guest start on "$kernel" init --cpu "$machine" --memory memory \
		--stream stream vm/* "$@" || exit 1
}

log=TEEPERF_LOG=/sys/bus/pci/devices/0000:00:10.0/resource2

# recorder OPTIONS...: one that waits, with its trace in run.trace; ends() is in waits.sh.
recorder() {
	waits -o run.trace --port vm "$@"
}

# build NAME DRIVER SOURCE OPTIONS...: ./NAME for here, vm/NAME for the machine, and the expected
# calls.
build() {
	name=$1
	driver=$2
	source=$3
	shift 3
	expect 0 "$TEEPERF" "$driver" --allowlist list --check off -g -O2 "$@" "$source" -o "$name"
	build_theirs "$name" "$driver" "$source" "$@"
	arguments=
	[ "$name" != threads ] || arguments=wait
	expect 0 "$TEEPERF" record -q --clock soft --mode full --size 64M \
		-o "$name.trace" -- "./$name" $arguments
	cp out "$name.said"
	calls_of "$name.trace" >"$name.want"
}

# build_theirs NAME DRIVER SOURCE OPTIONS...: vm/NAME.
build_theirs() {
	name=$1
	driver=$2
	source=$3
	shift 3
	# shellcheck disable=SC2086 # words are meant
	expect 0 "$TEEPERF" "$driver" --port=vm --allowlist list --check off $target -g \
		-O2 "$@" "$source" -o "vm/$name"
}

# run NAME ENVIRONMENT: in the machine, where it does what it does here.
run() {
	arguments=
	[ "$1 $2" != "threads $log" ] || arguments=wait
	# shellcheck disable=SC2086 # words are meant
	guest run on "$2" "$TEST_TMP/vm/$1" $arguments >said ||
		fail "'$1' has failed in the machine: $(cat said)"
	cmp "$1.said" said || fail "'$1' does something else in the machine"
}

# same TRACE NAME: it has the calls of NAME.
same() {
	calls_of "$1" >got
	diff "$2.want" got >&2 || {
		show_trace "$1" "$machine: '$2'"
		fail "calls in $1 are not those of '$2' here"
	}
}

# through_memory NAME...: this machine's recorder makes the log, and the time in it.
through_memory() {
	for name; do
		recorder --attach memory
		run "$name" $log
		ends 0 'the program reported its end'
		same run.trace "$name"
		facts run.trace lost=0 end_sections=1 host.port=vm
		at_work "$name through ivshmem: $(grep -vc '^sum' \
			got) paths, $(awk '/^sum/ { n += $NF } END { print n }' got) calls"
	done
}

# through_port NAME...: frames, no memory is shared. QEMU connects to each recorder again. Leaves
# the port's path.
through_port() {
	for name; do
		recorder --stream unix:stream
		port=$(guest ask on await teeperf here)
		run "$name" "TEEPERF_STREAM=$port"
		ends 0 'the program reported its end'
		same run.trace "$name"
		facts run.trace lost=0 end_sections=1 host.port=vm host.transport=stream
		guest ask on await teeperf gone >/dev/null
		at_work "$name through virtio-serial: the same"
	done
}
