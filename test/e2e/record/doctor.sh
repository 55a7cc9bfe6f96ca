#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Proves that doctor tells TEEs from what systems show of them, and what a program lacks for
# recording.
set -eu
. "$(dirname "$0")/../../lib/e2e.sh"

# system NAME [FILE[=TEXT]...]: what doctor says of such a system.
system() {
	name=$1
	shift
	mkdir -p "$name"
	for file; do
		mkdir -p "$name/$(dirname "${file%%=*}")"
		case $file in
		*=*) printf '%s\n' "${file#*=}" >"$name/${file%%=*}" ;;
		*) : >"$name/$file" ;;
		esac
	done
	expect 0 "$TEEPERF" doctor --root "$name"
	[ ! -s err ] || fail "$name: $(cat err)"
}
# only SUBJECT...: no others have a mark.
only() {
	awk '/^(ok|-|wrong|missing) / { print substr($0, 10, 10) }' out | sed 's/ *$//' >subjects
	printf '%s\n' "$@" | cmp - subjects || fail "$name: $(cat out)"
}
intel='proc/cpuinfo=flags		: fpu sgx sgx_lc avx'

system none 'proc/cpuinfo=flags		: fpu sgxfoo'
only TEE
says 'none found' out
system sgx "$intel" dev/sgx_enclave
only SGX
says 'clock +the soft clock' out
says 'perf +hardware profilers see nothing' out
system sgx-old dev/isgx
only SGX
says 'out-of-tree' out
system sgx-off "$intel"
says '^- +SGX .*enable it in the firmware' out
system snp dev/sev-guest
only inside
says 'an SEV-SNP guest' out
says 'SecureTSC' out
system tdx 'proc/cpuinfo=flags : fpu tdx_guest'
says 'a TDX guest' out
system sev-host dev/sev sys/module/kvm_amd/parameters/sev_snp=Y
only SEV
says 'SEV-SNP too' out
system sev-without dev/sev sys/module/kvm_amd/parameters/sev_snp=N
says 'without SNP' out
system tdx-host sys/module/kvm_intel/parameters/tdx=Y
only TDX
system nitro dev/nsm dev/vsock
only inside vsock
says 'no memory is shared with the parent' out
system parent dev/nitro_enclaves
only Nitro
system realm sys/bus/platform/devices/arm-cca-dev/uevent
says 'an Arm CCA realm' out
system optee dev/tee0
only TrustZone
says 'without /dev/teepriv0' out
system optee-whole dev/tee0 dev/teepriv0
! grep -q 'without /dev/teepriv0' out || fail "the supplicant's device is there"
system keystone dev/keystone_enclave
only Keystone
system gramine dev/attestation/attestation_type=dcap
only inside
says 'Gramine, with SGX' out
says 'teeperf gramine-manifest' out
system direct dev/attestation/attestation_type=none
says 'Gramine, attestation is off' out
system kits opt/intel/sgxsdk/x opt/openenclave/x opt/occlum/x opt/scone/x
only Occlum 'Open Encl.' SCONE 'SGX SDK'
system shared sys/bus/pci/devices/0000:00:04.0/vendor=0x1af4 \
	sys/bus/pci/devices/0000:00:04.0/device=0x1110 \
	sys/bus/pci/devices/0000:00:05.0/vendor=0x1af4 \
	sys/bus/pci/devices/0000:00:05.0/device=0x1000
only TEE ivshmem
says 'devices/0000:00:04.0/resource2$' out
system locked sys/bus/pci/devices/0000:00:04.0/vendor=0x1af4 \
	sys/bus/pci/devices/0000:00:04.0/device=0x1110 \
	'sys/kernel/security/lockdown=none [integrity] confidentiality'
only TEE ivshmem
says '^- +ivshmem .*resource2; this kernel is in lockdown' out
system open-ports 'sys/kernel/security/lockdown=[none] integrity confidentiality' \
	sys/class/virtio-ports/vport0p0/name= \
	"sys/class/virtio-ports/vport1p2/name=$(printf 'out\033[31m')"
only TEE virtio
says "^ok +virtio +/dev/vport1p2, named 'out.\[31m', for a stream" out
# Long values, and bytes that are not text.
head -c 100000 /dev/zero | tr '\0' f >long
system long-flags "proc/cpuinfo=flags : $(cat long) sgx"
only TEE

# This machine: whatever it has, each line has a mark and a subject.
"$TEEPERF" doctor >out || true
! grep -Evq '^(ok|-|wrong|missing|        ) +[^ ]' out || fail "$(cat out)"
says '^(ok|-) +cores' out

# Programs.
cat >app.c <<'EOS'
int main(void) { return 0; }
EOS
"$TEEPERF" cc -g -O0 app.c -o app
program() {
	wanted=$1
	shift
	expect "$wanted" "$TEEPERF" doctor "$@"
}
program 0 app
says '^ok +events +instrumented, ABI [0-9]+, clock chosen when compiled: auto$' out
says '^ok +names +[0-9]+ functions' out
says '^ok +lines' out
"$TEEPERF" cc --clock=tsc -O0 -Wl,--build-id=none app.c -o fixed
program 0 fixed
says '^- +clock +compiled for the processor.s counter only' out
says '^- +lines +no debug information: compile with -g' out
says '^- +build ID +none' out
objcopy --only-keep-debug app app.debug
cp app stripped
strip stripped
objcopy --add-gnu-debuglink=app.debug stripped
program 0 stripped
says '^- +names +stripped, only [0-9]+ exported functions' out
says '^ok +lines' out
rm app.debug
program 0 stripped
says "^- +lines +debug information is in 'app.debug'" out
clang=$("$TEEPERF" cc --print-prog-name=clang)
"$clang" -O0 app.c -o native
program 1 native
says "^missing +events +the program is not instrumented: compile and link it with 'teeperf cc'" out
python3 - <<'EOP'
data = open("app", "rb").read()
at = data.index(b"\x08\0\0\0\x04\0\0\0\x01\0\0\0TeePerf\0")
open("older", "wb").write(data[:at + 20] + b"\x01\0\0\0" + data[at + 24:])
EOP
program 1 older
says '^wrong +events +compiled for ABI 1 of the runtime' out
program 1 app.c
says "^wrong +program +'app.c'" out
program 1 missing
says "^wrong +program +'missing'.*No such file" out
program 129 app app
