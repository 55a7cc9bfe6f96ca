// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platform interface on Linux and other POSIX systems with an ELF loader. All functions
// preserve errno: a program may read it when main begins, or after any call.
#define _GNU_SOURCE
#include "runtime/port.h"
#include "posix.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_key_t thread_key;

bool tp_port_map_file(int fd, uint64_t offset, void **base, uint64_t *size)
{
	struct stat status;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
	    offset >= (uint64_t)status.st_size || offset % TP_CHUNK_SIZE)
		return false;
	// Reserve enough to choose an aligned place inside, then map over it.
	const uint64_t length = (uint64_t)status.st_size - offset;
	const uint64_t reserved = length + TP_CHUNK_SIZE;
	char *at =
	    mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	const uint64_t skip = -(uint64_t)(uintptr_t)at & (TP_CHUNK_SIZE - 1);
	void *map = mmap(
	    at + skip, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
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
	return path ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
}

bool tp_port_map_named(void **base, uint64_t *size)
{
	// secure_getenv: a set-user-ID program must not write where its caller says.
	const char *path = secure_getenv(TEEPERF_LOG_ENV);
	if (!path || !*path)
		return false;
	const char *text = secure_getenv(TEEPERF_LOG_OFFSET_ENV);
	const uint64_t offset = text ? tp_port_number(&text, '\0') : 0;
	// The descriptor of "fd:N" stays the program's.
	const char *rest = tp_port_behind(path, TEEPERF_LOG_INHERITED);
	const uint64_t number = rest ? tp_port_number(&rest, '\0') : UINT64_MAX;
	const int given = number <= INT32_MAX ? (int)number : -1;
	const int error = errno;
	const int fd = given >= 0 ? given : tp_port_open(path);
	const bool done = fd >= 0 && tp_port_map_file(fd, offset, base, size);
	if (fd >= 0 && fd != given)
		close(fd);
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
	return (uint64_t)getpid();
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
	*os_tid = (uint64_t)syscall(SYS_gettid);
	tp_port_thread_name(name);
	pthread_setspecific(thread_key, &thread_key);
	errno = error;
}

void tp_port_thread_name(uint64_t name[2])
{
	const int error = errno;
	prctl(PR_GET_NAME, name, 0, 0, 0);
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
	return pthread_key_create(&thread_key, thread_ended) == 0 &&
	       pthread_atfork(NULL, NULL, tp_port_forked) == 0;
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

// False if the program has a use for this signal already, or nobody can have one.
static bool listen_to(int number)
{
	const int error = errno;
	struct sigaction old;
	const struct sigaction action = {.sa_handler = heard, .sa_flags = SA_RESTART | SA_ONSTACK};
	const bool done = sigaction(number, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
			  old.sa_handler == SIG_DFL && sigaction(number, &action, NULL) == 0;
	errno = error;
	return done;
}

enum teeperf_listens tp_port_listen(uint32_t *value)
{
	*value = 0;
	const char *text = secure_getenv(TEEPERF_CONTROL_ENV);
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

static int look_at(struct dl_phdr_info *info, size_t info_size, void *data)
{
	(void)info_size;
	const struct search *search = data;
	struct teeperf_module *module = search->module;
	if (!tp_elf_segments_describe((const void *)info->dlpi_phdr, info->dlpi_phnum,
		info->dlpi_addr, search->anchor, module))
		return 0;
	if (info->dlpi_name && info->dlpi_name[0]) {
		char *real = realpath(info->dlpi_name, NULL);
		copy_path(module, real ? real : info->dlpi_name);
		free(real);
	} else {
		char path[4096];
		const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = '\0';
		copy_path(module, path);
	}
	return 1;
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
	const int error = errno; // realpath() looks whether names are links
	struct search search = {(uint64_t)(uintptr_t)anchor, module};
	const bool found = dl_iterate_phdr(look_at, &search) == 1;
	errno = error;
	return found;
}
