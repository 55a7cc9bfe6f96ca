// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// To be preloaded: the N-th call of a kind fails in the program whose name ends in FAIL_IN.
//
//   FAIL_KIND=memory|io|write (to a regular file)  FAIL_AT=N  FAIL_STICKY=1 (all from the N-th on)
//   FAIL_COUNT=FILE (8 bytes: calls so far, 8 bytes: those that failed)
//   FAIL_SERVER=ORDERS,ANSWERS (descriptors of pipes): the program stops before main(). For each
//   order, it is forked, and the child goes on, with the order's kind, number and stickiness; its
//   output goes to fail.out and fail.err, and its status (wait) is the answer. To begin a program
//   that has AddressSanitizer takes ten times as long as to fork it.
//
// glibc calls malloc and its kin through their symbols, so what strdup, fopen or getline take fails
// too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { MEMORY = 1, IO = 2, WRITE = 3 };

// AddressSanitizer's, where it is there: what it did not allocate it will not free.
#define WEAK __attribute__((weak))
WEAK extern void *__interceptor_malloc(size_t size);
WEAK extern void *__interceptor_calloc(size_t count, size_t size);
WEAK extern void *__interceptor_realloc(void *old, size_t size);
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static struct {
	uint64_t calls;
	uint64_t failed;
} * counts;
static enum kind kind;
static uint64_t at;
static bool sticky;

struct order {
	uint64_t at;
	uint32_t kind;
	uint32_t sticky;
};

static void send_to(int fd, const char *path)
{
	const int file =
	    (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || dup2(file, fd) < 0)
		_exit(99);
	syscall(SYS_close, file);
}

// Programs of the same name that the child starts go on counting.
static void pass_on(const struct order *order)
{
	char text[32];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)order->at);
	setenv("FAIL_AT", text, 1);
	setenv("FAIL_KIND",
	    order->kind == IO      ? "io"
	    : order->kind == WRITE ? "write"
				   : "memory",
	    1);
	if (order->sticky)
		setenv("FAIL_STICKY", "1", 1);
	unsetenv("FAIL_SERVER");
}

// Returns in each child; the kind is set last.
static enum kind serve(const char *text)
{
	char *rest;
	const int orders = (int)strtol(text, &rest, 10);
	const int answers = (int)strtol(rest + (*rest == ','), NULL, 10);
	struct order order;
	while (syscall(SYS_read, orders, &order, sizeof(order)) == sizeof(order)) {
		counts->calls = counts->failed = 0;
		const pid_t child = fork();
		if (!child) {
			syscall(SYS_close, orders);
			syscall(SYS_close, answers);
			send_to(STDOUT_FILENO, "fail.out");
			send_to(STDERR_FILENO, "fail.err");
			at = order.at;
			sticky = order.sticky;
			pass_on(&order);
			return order.kind;
		}
		int status = -1;
		while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		syscall(SYS_write, answers, &status, sizeof(status));
	}
	_exit(0);
}

__attribute__((constructor)) static void init(void)
{
	const char *in = getenv("FAIL_IN");
	const char *what = getenv("FAIL_KIND");
	const char *number = getenv("FAIL_AT");
	const char *file = getenv("FAIL_COUNT");
	char path[4096];
	const ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (!in || !what || !number || !file || size <= 0)
		return;
	path[size] = '\0';
	const size_t length = strlen(in);
	if ((size_t)size < length || strcmp(path + (size_t)size - length, in))
		return;
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	void *map = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	syscall(SYS_close, fd);
	if (map == MAP_FAILED)
		return;
	at = strtoull(number, NULL, 10);
	sticky = getenv("FAIL_STICKY") != NULL;
	counts = map;
	const char *server = getenv("FAIL_SERVER");
	const enum kind named = !strcmp(what, "io") ? IO : !strcmp(what, "write") ? WRITE : MEMORY;
	const enum kind of = server ? serve(server) : named;
	__atomic_store_n(&kind, of, __ATOMIC_RELEASE);
}

// Whether this call is to fail.
static bool fails(enum kind of)
{
	if (__atomic_load_n(&kind, __ATOMIC_ACQUIRE) != of)
		return false;
	const uint64_t number = __atomic_add_fetch(&counts->calls, 1, __ATOMIC_RELAXED);
	const bool now = sticky ? number >= at : number == at;
	if (now)
		__atomic_add_fetch(&counts->failed, 1, __ATOMIC_RELAXED);
	return now;
}

void *malloc(size_t size)
{
	if (!fails(MEMORY))
		return __interceptor_malloc ? __interceptor_malloc(size) : __libc_malloc(size);
	errno = ENOMEM;
	return NULL;
}

void *calloc(size_t count, size_t size)
{
	if (!fails(MEMORY))
		return __interceptor_calloc ? __interceptor_calloc(count, size)
					    : __libc_calloc(count, size);
	errno = ENOMEM;
	return NULL;
}

void *realloc(void *old, size_t size)
{
	if (!fails(MEMORY))
		return __interceptor_realloc ? __interceptor_realloc(old, size)
					     : __libc_realloc(old, size);
	errno = ENOMEM;
	return NULL;
}

// The next definition of NAME.
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// A function of the kind IO with RESULT, that says ERROR and returns FAILURE.
#define WRAP(result, failure, error, name, parameters, arguments) \
	result name parameters                                    \
	{                                                         \
		if (fails(IO)) {                                  \
			errno = error;                            \
			return failure;                           \
		}                                                 \
		return NEXT(name) arguments;                      \
	}

WRAP(ssize_t, -1, EIO, read, (int fd, void *to, size_t size), (fd, to, size))
WRAP(ssize_t, -1, EIO, pread, (int fd, void *to, size_t size, off_t offset), (fd, to, size, offset))
WRAP(ssize_t, -1, EIO, pread64, (int fd, void *to, size_t size, off64_t offset),
    (fd, to, size, offset))

static bool is_file(int fd)
{
	struct stat info;
	return syscall(SYS_fstat, fd, &info) == 0 && S_ISREG(info.st_mode);
}

// The same for what writes to FD.
#define WRAP_WRITE(name, parameters, arguments)                   \
	ssize_t name parameters                                   \
	{                                                         \
		if (fails(IO) || (is_file(fd) && fails(WRITE))) { \
			errno = ENOSPC;                           \
			return -1;                                \
		}                                                 \
		return NEXT(name) arguments;                      \
	}
WRAP_WRITE(write, (int fd, const void *from, size_t size), (fd, from, size))
WRAP_WRITE(pwrite, (int fd, const void *from, size_t size, off_t offset), (fd, from, size, offset))
WRAP_WRITE(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRAP(FILE *, NULL, EMFILE, fopen, (const char *path, const char *mode), (path, mode))
WRAP(void *, MAP_FAILED, ENOMEM, mmap,
    (void *where, size_t size, int protection, int flags, int fd, off_t offset),
    (where, size, protection, flags, fd, offset))
WRAP(int, -1, EIO, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, ENOSPC, ENOSPC, posix_fallocate, (int fd, off_t offset, off_t size), (fd, offset, size))
WRAP(int, -1, EACCES, rename, (const char *from, const char *to), (from, to))
WRAP(int, -1, EIO, symlink, (const char *from, const char *to), (from, to))
WRAP(int, -1, EMFILE, pipe2, (int fds[2], int flags), (fds, flags))
WRAP(int, -1, EMFILE, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(int, -1, EIO, fstat, (int fd, struct stat *to), (fd, to))
WRAP(int, -1, EIO, fstat64, (int fd, struct stat64 *to), (fd, to))
WRAP(pid_t, -1, EAGAIN, fork, (void), ())
WRAP(int, EAGAIN, EAGAIN, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
    (thread, attributes, start, argument))

size_t fwrite(const void *from, size_t size, size_t count, FILE *file)
{
	if (!fails(IO))
		return NEXT(fwrite)(from, size, count, file);
	file->_flags |= 0x20; // what ferror() looks at in glibc
	errno = ENOSPC;
	return 0;
}

static mode_t mode_of(int flags, va_list arguments)
{
	return flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
}

#define WRAP_OPEN(name)                                        \
	int name(const char *path, int flags, ...)             \
	{                                                      \
		va_list arguments;                             \
		va_start(arguments, flags);                    \
		const mode_t mode = mode_of(flags, arguments); \
		va_end(arguments);                             \
		if (fails(IO)) {                               \
			errno = EMFILE;                        \
			return -1;                             \
		}                                              \
		return NEXT(name)(path, flags, mode);          \
	}
WRAP_OPEN(open)
WRAP_OPEN(open64)
