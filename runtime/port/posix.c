// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform interface on Linux and other POSIX systems with an ELF loader. All functions
// preserve errno: a program may read it when main begins, or after any call.
#define _GNU_SOURCE
#include "runtime/port.h"
#include "posix.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "posix_system.h"

static pthread_key_t thread_key;
static bool sees_ends; // of threads

bool tp_port_map_file(int fd, uint64_t offset, void **base, uint64_t *size)
{
	struct stat status;
	if (tp_system_stat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
	    offset >= (uint64_t)status.st_size || offset % TP_CHUNK_SIZE)
		return false;
	// Reserve enough to choose an aligned place inside, then map over it.
	const uint64_t length = (uint64_t)status.st_size - offset;
	const uint64_t reserved = length + TP_CHUNK_SIZE;
	char *at = tp_port_reserve(reserved);
	if (at == MAP_FAILED)
		return false;
	const uint64_t skip = -(uint64_t)(uintptr_t)at & (TP_CHUNK_SIZE - 1);
	void *map = tp_system_map(at + skip, length, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, offset);
	// A program may want all memory that it maps locked, and so there (mlockall).
	tp_system(SYS_munlock, map, length);
	if (map != MAP_FAILED && tp_system(SYS_mprotect, map, length, PROT_READ | PROT_WRITE)) {
		tp_system_unmap(map, length);
		map = MAP_FAILED;
	}
	*base = map;
	*size = length;
	return map != MAP_FAILED;
}

uint64_t tp_port_number(const char **text, char end)
{
	uint64_t number = 0;
	const char *at = *text;
	do {
		const uint64_t digit = (uint64_t)*at - '0';
		if (digit > 9 || number > (UINT64_MAX - 9) / 10)
			return UINT64_MAX;
		number = 10 * number + digit;
	} while (*++at != end);
	*text = end ? at + 1 : at;
	return number;
}

const char *tp_port_behind(const char *text, const char *prefix)
{
	while (*prefix)
		if (*text++ != *prefix++)
			return NULL;
	return text;
}

int tp_port_open(const char *path)
{
	return path ? tp_system_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
}

// Whether the caller's environment is not to be trusted.
static bool is_secure(void)
{
	const struct tp_port_names *names = tp_port_names();
	if (names->auxiliary)
		return names->auxiliary(AT_SECURE) != 0;
	return tp_system(SYS_getuid, 0) != tp_system(SYS_geteuid, 0) ||
	       tp_system(SYS_getgid, 0) != tp_system(SYS_getegid, 0) ||
	       tp_system(SYS_prctl, PR_GET_DUMPABLE) != 1;
}

extern char **__environ;

const char *tp_port_environment(const char *name)
{
	const char *value = NULL;
	for (char **at = __environ; at && *at && !value; at++) {
		const char *rest = tp_port_behind(*at, name);
		value = rest && *rest == '=' ? rest + 1 : NULL;
	}
	return value && !is_secure() ? value : NULL;
}

bool tp_port_map_named(void **base, uint64_t *size)
{
	const char *path = tp_port_environment(TEEPERF_LOG_ENV);
	if (!path || !*path)
		return false;
	const char *text = tp_port_environment(TEEPERF_LOG_OFFSET_ENV);
	const uint64_t offset = text ? tp_port_number(&text, '\0') : 0;
	// The descriptor of "fd:N" stays the program's.
	const char *rest = tp_port_behind(path, TEEPERF_LOG_INHERITED);
	const uint64_t number = rest ? tp_port_number(&rest, '\0') : UINT64_MAX;
	const int given = number <= INT32_MAX ? (int)number : -1;
	const int error = errno;
	const int fd = given >= 0 ? given : tp_port_open(path);
	const bool done = fd >= 0 && tp_port_map_file(fd, offset, base, size);
	if (fd >= 0 && fd != given)
		tp_system_close(fd);
	errno = error;
	return done;
}

bool tp_port_is_outside(const void *base, uint64_t size)
{
	(void)base;
	(void)size;
	return true; // there is no inside
}

uint64_t tp_port_process_id(void)
{
	return tp_system_process();
}

// Call circle with runtime/attach.c, runtime/switch.c and runtime/thread.c: the system says what
// has happened here, in handlers and destructors.
static void thread_ended(void *value)
{
	(void)value;
	tp_thread_end();
}

void tp_port_thread_start(uint64_t *os_tid, uint64_t name[2])
{
	const int error = errno;
	*os_tid = (uint64_t)tp_system(SYS_gettid, 0);
	tp_port_thread_name(name);
	const struct tp_port_names *names = tp_port_names();
	if (sees_ends)
		names->set_value(thread_key, &thread_key);
	errno = error;
}

void tp_port_thread_name(uint64_t name[2])
{
	const int error = errno;
	tp_system(SYS_prctl, PR_GET_NAME, name);
	errno = error;
}

// A TEE's own operating system may answer with another clock: the port of those that are known to
// count it has it.
__attribute__((weak)) uint64_t tp_port_thread_cpu(void)
{
	return 0;
}

bool tp_port_attached(void)
{
	const struct tp_port_names *names = tp_port_names();
	sees_ends = names->make_key && names->set_value;
	return (!sees_ends || names->make_key(&thread_key, thread_ended) == 0) &&
	       (!names->at_fork || names->at_fork(NULL, NULL, tp_port_forked) == 0);
}

// The environment's "LOOK[,ON,OFF]": numbers of signals.
enum { LISTEN_LOOK, LISTEN_ON, LISTEN_OFF, LISTEN_COUNT };
static int listen_signals[LISTEN_COUNT];

static void heard(int number)
{
	if (number == listen_signals[LISTEN_LOOK])
		__teeperf_poll();
	else
		__teeperf_switch(number == listen_signals[LISTEN_ON]);
}

static int read_number(const char **text)
{
	int number = 0;
	for (; **text >= '0' && **text <= '9' && number < 1000; (*text)++)
		number = 10 * number + (**text - '0');
	if (**text == ',')
		(*text)++;
	return number;
}

// What the kernel knows of a signal. Of all processors here only x86-64 needs to know how a
// handler returns; debuggers and unwinders know these bytes. A riscv64 kernel has no `restorer`,
// but QEMU writes one there.
struct kernel_action {
	void (*handler)(int number);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};
enum { MASK_SIZE = sizeof(uint64_t) };
#ifdef __x86_64__
enum { NEEDS_RESTORER = 0x04000000 };
TP_HIDDEN void tp_port_restore(void);
__asm__(".pushsection .text\n"
	".p2align 4\n"
	"	nop\n" // unwinders look at the byte before the address
	".globl tp_port_restore\n"
	".hidden tp_port_restore\n"
	".type tp_port_restore, @function\n"
	"tp_port_restore:\n"
	"	movq $15, %rax\n" // rt_sigreturn
	"	syscall\n"
	".size tp_port_restore, . - tp_port_restore\n"
	".popsection\n");
_Static_assert(SYS_rt_sigreturn == 15, "tp_port_restore");
#endif

// False if the program has a use for this signal already, or nobody can have one.
static bool listen_to(int number)
{
	const int error = errno;
	struct kernel_action old;
	struct kernel_action action = {.handler = heard, .flags = SA_RESTART | SA_ONSTACK};
#ifdef __x86_64__
	action.flags |= NEEDS_RESTORER;
	action.restorer = tp_port_restore;
#endif
	const bool done = tp_system(SYS_rt_sigaction, number, NULL, &old, MASK_SIZE) == 0 &&
			  !(old.flags & SA_SIGINFO) && old.handler == SIG_DFL &&
			  tp_system(SYS_rt_sigaction, number, &action, NULL, MASK_SIZE) == 0;
	errno = error;
	return done;
}

enum teeperf_listens tp_port_listen(uint32_t *value)
{
	*value = 0;
	const char *text = tp_port_environment(TEEPERF_CONTROL_ENV);
	if (!text)
		return TEEPERF_LISTENS_NOT;
	for (int i = 0; i < LISTEN_COUNT; i++)
		listen_signals[i] = read_number(&text);
	for (int i = 0; i < LISTEN_COUNT; i++) {
		const int number = listen_signals[i];
		if (number && !listen_to(number)) {
			*value = (uint32_t)number;
			return TEEPERF_LISTENS_REFUSED;
		}
	}
	*value = (uint32_t)listen_signals[LISTEN_LOOK];
	return *value ? TEEPERF_LISTENS_SIGNAL : TEEPERF_LISTENS_NOT;
}

// Of the priorities that are anybody's the last; those of modules, which are waited for, are behind
// it.
__attribute__((destructor(101))) static void process_ended(void)
{
	tp_thread_tell_cpu();
	tp_process_ended(TEEPERF_ENDED);
}

struct search {
	uint64_t anchor;
	struct teeperf_module *module;
};

static void copy_path(struct teeperf_module *module, const char *path)
{
	uint64_t length = 0;
	while (path[length])
		length++;
	if (length >= TEEPERF_MODULE_PATH_SIZE) {
		path += length - (TEEPERF_MODULE_PATH_SIZE - 1);
		length = TEEPERF_MODULE_PATH_SIZE - 1;
		module->flags |= TEEPERF_MODULE_PATH_CUT;
	}
	for (uint64_t i = 0; i < length; i++)
		module->path[i] = path[i];
}

// The path of NAME without links; that of the program if it is empty. Where /proc is not there: as
// the loader says.
static void find_path(struct teeperf_module *module, const char *name)
{
	static const char descriptors[] = "/proc/self/fd/";
	enum { DIGITS = 10 };
	const bool named = name && *name;
	const int fd = named ? tp_system_open(name, O_PATH | O_CLOEXEC) : -1;
	char path[4096];
	char link[sizeof(descriptors) + DIGITS] = "/proc/self/exe";
	if (fd >= 0) {
		unsigned at = sizeof(link) - 1;
		link[at] = '\0';
		for (unsigned left = (unsigned)fd; left || !link[at]; left /= 10)
			link[--at] = (char)('0' + left % 10);
		unsigned to = sizeof(descriptors) - 1;
		for (unsigned i = 0; i < to; i++)
			link[i] = descriptors[i];
		while (at < sizeof(link))
			link[to++] = link[at++];
	}
	const long length = named && fd < 0
				? -1
				: tp_system(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	if (fd >= 0)
		tp_system_close(fd);
	path[length > 0 ? length : 0] = '\0';
	copy_path(module, named && length <= 0 ? name : path);
}

static int look_at(struct dl_phdr_info *info, size_t info_size, void *data)
{
	(void)info_size;
	const struct search *search = data;
	struct teeperf_module *module = search->module;
	if (!tp_elf_segments_describe((const void *)info->dlpi_phdr, info->dlpi_phnum,
		info->dlpi_addr, search->anchor, module))
		return 0;
	find_path(module, info->dlpi_name);
	return 1;
}

// Linkers define it, where the header is in memory.
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

// A program without a loader: the runtime is in it.
static bool look_at_program(const struct search *search)
{
	struct teeperf_module *module = search->module;
	if (!__ehdr_start || !tp_elf_image_describe(__ehdr_start, module) ||
	    search->anchor < module->start || search->anchor >= module->end)
		return false;
	find_path(module, NULL);
	return true;
}

__attribute__((weak)) bool tp_port_recall(const void *anchor, struct teeperf_module *module)
{
	(void)anchor;
	(void)module;
	return false;
}

bool tp_port_find_module(const void *anchor, struct teeperf_module *module)
{
	if (tp_port_recall(anchor, module))
		return true;
	const int error = errno;
	const struct tp_port_names *names = tp_port_names();
	struct search search = {(uint64_t)(uintptr_t)anchor, module};
	const bool found = (!names->in_loader && look_at_program(&search)) ||
			   (names->each_module && names->each_module(look_at, &search) == 1);
	errno = error;
	return found;
}
