// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf doctor: which TEEs a system has or runs in, by its devices, its processor's flags and its
// tools.
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "cli/doctor/doctor.h"
#include "cli/command/command.h"
#include "common/clean.h"
#include "recorder/tee.h"
#include "common/process.h"

void tp_doctor_show(const char *mark, const char *subject, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	printf("%-8s %-10s ", mark, subject);
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
}

struct machine {
	const char *root;
	bool here;        /* it is the system that we run on */
	char flags[8192]; /* of its first processor, with a space before and behind each */
};

static bool has(const struct machine *machine, const char *path)
{
	char whole[PATH_MAX];
	snprintf(whole, sizeof(whole), "%s%s", machine->root, path);
	return access(whole, F_OK) == 0;
}

// The first line of a file, empty if there is none.
static void line_of(const struct machine *machine, const char *path, char *text, size_t size)
{
	char whole[PATH_MAX];
	snprintf(whole, sizeof(whole), "%s%s", machine->root, path);
	text[0] = '\0';
	FILE *file = fopen(whole, "re");
	if (!file)
		return;
	if (!fgets(text, (int)size, file))
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

static void read_flags(struct machine *machine)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/proc/cpuinfo", machine->root);
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	while (file && getline(&line, &size, file) > 0) {
		const char *colon = strchr(line, ':');
		if (!colon || (strncmp(line, "flags", 5) != 0 && strncmp(line, "Features", 8) != 0))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(machine->flags, sizeof(machine->flags), "%s ", colon + 1);
		break;
	}
	free(line);
	if (file)
		fclose(file);
}

static bool has_flag(const struct machine *machine, const char *flag)
{
	char word[64];
	snprintf(word, sizeof(word), " %s ", flag);
	return strstr(machine->flags, word) != NULL;
}

static bool has_tool(const struct machine *machine, const char *name)
{
	char path[PATH_MAX];
	return machine->here && tp_find_program(name, path);
}

static bool is_yes(const struct machine *machine, const char *path)
{
	char text[8];
	line_of(machine, path, text, sizeof(text));
	return text[0] == 'Y' || text[0] == '1';
}

// 0: not known.
static int sgx_level(const struct machine *machine)
{
#if defined(__x86_64__)
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d;
	if (machine->here && __get_cpuid_count(0x12, 0, &a, &b, &c, &d))
		return a & 2 ? 2 : a & 1 ? 1 : 0;
#endif
	(void)machine;
	return 0;
}

static bool show_sgx(const struct machine *machine)
{
	const bool device = has(machine, "/dev/sgx_enclave");
	const bool old = has(machine, "/dev/isgx") || has(machine, "/dev/sgx/enclave");
	if (!device && !old && !has_flag(machine, "sgx"))
		return false;
	if (device)
		tp_doctor_show("ok", "SGX", "in-kernel driver, /dev/sgx_enclave");
	else if (old)
		tp_doctor_show("-", "SGX",
		    "an out-of-tree driver: enclaves run; kernels since 5.11 have "
		    "/dev/sgx_enclave");
	else
		tp_doctor_show("-", "SGX",
		    "the processor has it, but /dev/sgx_enclave is missing: enable it in the "
		    "firmware, and use a kernel with CONFIG_X86_SGX");
	const int level = sgx_level(machine);
	tp_doctor_show("", "  clock",
	    level == 2
		? "SGX2: the soft clock; rdtsc is also legal inside, but the host controls its "
		  "value"
	    : level == 1
		? "SGX1: the soft clock only: rdtsc faults inside an enclave"
		: "the soft clock; rdtsc faults inside an enclave of SGX1, and is legal with SGX2");
	tp_doctor_show("", "  log", "host memory, which an enclave may write: mapped once");
	tp_doctor_show("", "  perf",
	    "hardware profilers see nothing in enclaves that are entered without debug opt-in: the "
	    "processor suppresses counters and PEBS there; recording uses neither");
	tp_doctor_show(
	    "", "  next", "docs/platforms: sgx-sdk, openenclave, gramine, occlum, scone");
	return true;
}

static bool show_virtual_machine(const struct machine *machine)
{
	const bool snp = has(machine, "/dev/sev-guest") || has_flag(machine, "sev_snp");
	const bool tdx = has(machine, "/dev/tdx_guest") || has_flag(machine, "tdx_guest");
	const bool nitro = has(machine, "/dev/nsm");
	char name[64];
	line_of(machine, "/sys/bus/platform/devices/arm-cca-dev/uevent", name, sizeof(name));
	const bool realm = has(machine, "/sys/bus/platform/devices/arm-cca-dev");
	if (!snp && !tdx && !nitro && !realm)
		return false;
	tp_doctor_show("ok", "inside", "%s",
	    snp     ? "an SEV-SNP guest"
	    : tdx   ? "a TDX guest"
	    : realm ? "an Arm CCA realm"
		    : "a Nitro enclave");
	tp_doctor_show("", "  clock", "%s",
	    tdx     ? "the processor's counter: TDX protects it from the host"
	    : realm ? "the processor's counter, cntvct"
		    : "the processor's counter; the host can shift it, except with SecureTSC");
	tp_doctor_show("", "  log", "%s",
	    nitro
		? "no memory is shared with the parent: 'teeperf record' in here, or a stream over "
		  "vsock"
		: "'teeperf record' in here; or ivshmem or vsock to a recorder on the host");
	tp_doctor_show("", "  next", "docs/platforms: %s", nitro ? "nitro" : "vm");
	return true;
}

static bool show_virtual_host(const struct machine *machine)
{
	bool any = false;
	if (has(machine, "/dev/sev")) {
		tp_doctor_show("ok", "SEV", "this host can start guests, %s",
		    is_yes(machine, "/sys/module/kvm_amd/parameters/sev_snp")
			? "SEV-SNP too"
			: "without SNP: its kernel or firmware has kvm_amd.sev_snp off");
		any = true;
	}
	if (is_yes(machine, "/sys/module/kvm_intel/parameters/tdx")) {
		tp_doctor_show("ok", "TDX", "this host can start guests");
		any = true;
	}
	if (has(machine, "/dev/nitro_enclaves")) {
		tp_doctor_show("ok", "Nitro",
		    "this instance can start enclaves; they share no memory: a stream over vsock");
		any = true;
	}
	if (any)
		tp_doctor_show(
		    "", "  next", "run 'teeperf doctor' in the guest; docs/platforms: vm, nitro");
	return any;
}

static bool show_optee(const struct machine *machine)
{
	if (!has(machine, "/dev/tee0"))
		return false;
	char text[64];
	line_of(machine, "/sys/class/tee/tee0/implementation_id", text, sizeof(text));
	tp_doctor_show("ok", "TrustZone", "/dev/tee0 exists%s",
	    has(machine, "/dev/teepriv0")
		? ""
		: "; without /dev/teepriv0 tee-supplicant loads no applications");
	tp_doctor_show("", "  clock",
	    "the soft clock: stock OP-TEE kills an application that reads a counter; cntpct works "
	    "in a core built with CFG_FTRACE_SUPPORT=y");
	tp_doctor_show("", "  log", "shared memory, mapped anew for each command");
	tp_doctor_show("", "  next", "docs/platforms: optee");
	return true;
}

static bool show_keystone(const struct machine *machine)
{
	if (!has(machine, "/dev/keystone_enclave"))
		return false;
	tp_doctor_show("ok", "Keystone", "/dev/keystone_enclave exists");
	tp_doctor_show(
	    "", "  log", "private memory, copied out by edge calls; docs/platforms: keystone");
	return true;
}

static bool show_gramine(const struct machine *machine)
{
	char kind[32];
	line_of(machine, "/dev/attestation/attestation_type", kind, sizeof(kind));
	if (kind[0]) {
		tp_doctor_show("ok", "inside", "Gramine, %s",
		    strcmp(kind, "none") ? "with SGX"
					 : "attestation is off: direct, or SGX without it");
		tp_doctor_show("", "  log",
		    "an untrusted_shm mount: 'teeperf gramine-manifest' prints the lines of the "
		    "manifest");
		return true;
	}
	const bool sgx = has_tool(machine, "gramine-sgx");
	if (!sgx && !has_tool(machine, "gramine-direct"))
		return false;
	tp_doctor_show("ok", "Gramine", "%s is installed", sgx ? "gramine-sgx" : "gramine-direct");
	tp_doctor_show("", "  log",
	    "an untrusted_shm mount: 'teeperf gramine-manifest' prints the lines of the manifest");
	tp_doctor_show("", "  clock",
	    "the soft clock; on processors where it traps, rdtsc leaves the enclave each time");
	return true;
}

static bool show_kits(const struct machine *machine)
{
	bool any = false;
	for (const struct tp_tee *tee = tp_tees(); tee->name; tee++) {
		const struct tp_tee_kit *kit = &tee->kit;
		if (!kit->subject ||
		    (!has(machine, kit->path) && !(kit->tool && has_tool(machine, kit->tool))))
			continue;
		tp_doctor_show(
		    "ok", kit->subject, "installed; %sdocs/platforms: %s", kit->text, tee->pages);
		any = true;
	}
	return any;
}

// Serial ports of virtio that have a name, which the host has given them.
static void show_ports(const struct machine *machine)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/sys/class/virtio-ports", machine->root);
	DIR *folder = opendir(path);
	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		char name[64];
		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", entry->d_name);
		line_of(machine, path, name, sizeof(name));
		tp_clean(name, strlen(name));
		if (name[0])
			tp_doctor_show("ok", "virtio",
			    "/dev/%s, named '%s', for a stream to the host if nothing else uses it",
			    entry->d_name, name);
	}
	if (folder)
		closedir(folder);
}

// Ways for a log to leave a virtual machine.
static void show_transports(const struct machine *machine)
{
	char lockdown[64]; // the one in brackets is in force
	line_of(machine, "/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	const bool locked = lockdown[0] && !strstr(lockdown, "[none]");
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", machine->root);
	DIR *folder = opendir(path);
	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		char vendor[16];
		char device[16];
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/vendor", entry->d_name);
		line_of(machine, path, vendor, sizeof(vendor));
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/device", entry->d_name);
		line_of(machine, path, device, sizeof(device));
		if (!strcmp(vendor, "0x1af4") && !strcmp(device, "0x1110"))
			tp_doctor_show(locked ? "-" : "ok", "ivshmem",
			    "memory shared with the host: /sys/bus/pci/devices/%s/resource2%s",
			    entry->d_name,
			    locked
				? "; this kernel is in lockdown and does not allow mapping it: use "
				  "a stream, or record inside"
				: "");
	}
	if (folder)
		closedir(folder);
	show_ports(machine);
	if (has(machine, "/dev/vsock"))
		tp_doctor_show("ok", "vsock", "/dev/vsock exists, for a stream to the host");
}

void tp_doctor_tees(const char *root)
{
	static bool (*const shows[])(const struct machine *) = {show_sgx, show_virtual_machine,
	    show_virtual_host, show_optee, show_keystone, show_gramine, show_kits};
	struct machine machine = {.root = root, .here = !root[0]};
	read_flags(&machine);
	bool any = false;
	for (size_t i = 0; i < sizeof(shows) / sizeof(shows[0]); i++)
		any = shows[i](&machine) || any;
	if (!any)
		tp_doctor_show("-", "TEE",
		    "none found: programs are recorded as on any Linux; docs/platforms has the "
		    "needs of each TEE");
	show_transports(&machine);
}
