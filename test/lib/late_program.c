// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A program that is recorded while it runs: each of its threads waits in another kind of system
 * call. Arguments: kinds, as in the table below, one thread each; the first is the main thread's.
 * Another process, which has started it, reads commands from standard input: "go N" wakes all
 * threads, each of which calls work() N times, and prints "done CALLS"; at the end of the input the
 * program ends and what its threads have seen is printed: "over EINTRS STATUS".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 512 };

struct member {
	int kind;
	atomic_int tid;
	int ends[2]; // of a socket pair: the thread's, and the other process's
	int extra;   // an epoll descriptor, a listening socket, a set of semaphores
	struct sockaddr_un address;
	atomic_uint word; // commands so far
	unsigned seen;
	atomic_ulong calls;
	atomic_ulong eintrs;
	atomic_ulong sum;
};

static struct shared {
	struct member members[THREADS];
	int count;
	atomic_int ready;
	atomic_uint amount;
	atomic_int over;
	pid_t pid;
} * shared;

// ---- recorded functions

__attribute__((noinline)) static unsigned long leaf(unsigned long value)
{
	__asm__ volatile("");
	return value * 3 + 1;
}

__attribute__((noinline)) unsigned long work(unsigned long value)
{
	return leaf(value) + 1;
}

// ---- a malloc whose lock a thread may hold for long; static programs take none of their own
// (SHARED_HEAP)

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *memory);
static atomic_flag heap = ATOMIC_FLAG_INIT;
static void lock_heap(void)
{
	while (atomic_flag_test_and_set(&heap))
		sched_yield();
}
#ifndef SHARED_HEAP
void *malloc(size_t size)
{
	lock_heap();
	void *memory = __libc_malloc(size);
	atomic_flag_clear(&heap);
	return memory;
}
void free(void *memory)
{
	lock_heap();
	__libc_free(memory);
	atomic_flag_clear(&heap);
}
#endif

// ---- the kinds. A wait returns 0, or -1 with errno.

static atomic_int handled;
static void handle(int number)
{
	(void)number;
	handled = 1;
}

static ssize_t take_byte(struct member *member)
{
	char byte;
	return read(member->ends[0], &byte, 1);
}

static int wait_read(struct member *member)
{
	return take_byte(member) == 1 ? 0 : -1;
}

static int wait_recv(struct member *member)
{
	char byte;
	const struct timeval patience = {.tv_sec = 600};
	setsockopt(member->ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return recv(member->ends[0], &byte, 1, 0) == 1 ? 0 : -1;
}

static int wait_poll(struct member *member)
{
	struct pollfd event = {.fd = member->ends[0], .events = POLLIN};
	return poll(&event, 1, -1) == 1 && take_byte(member) == 1 ? 0 : -1;
}

static int wait_ppoll(struct member *member)
{
	sigset_t none;
	const struct timespec patience = {.tv_sec = 600};
	struct pollfd event = {.fd = member->ends[0], .events = POLLIN};
	sigemptyset(&none);
	return ppoll(&event, 1, &patience, &none) == 1 && take_byte(member) == 1 ? 0 : -1;
}

static int wait_select(struct member *member)
{
	fd_set set;
	struct timeval patience = {.tv_sec = 600};
	FD_ZERO(&set);
	FD_SET(member->ends[0], &set);
	return select(member->ends[0] + 1, &set, NULL, NULL, &patience) == 1 &&
		       take_byte(member) == 1
		   ? 0
		   : -1;
}

static int wait_epoll(struct member *member)
{
	struct epoll_event event = {.events = EPOLLIN};
	if (!member->extra) {
		member->extra = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(member->extra, EPOLL_CTL_ADD, member->ends[0], &event);
	}
	return epoll_wait(member->extra, &event, 1, -1) == 1 && take_byte(member) == 1 ? 0 : -1;
}

// The handler runs in the call alone, as its signal is blocked elsewhere: EINTR is what the program
// waits for.
static int wait_epoll_signal(struct member *member)
{
	sigset_t none;
	struct epoll_event event = {.events = EPOLLIN};
	sigemptyset(&none);
	if (!member->extra)
		member->extra = epoll_create1(EPOLL_CLOEXEC);
	const int r = epoll_pwait(member->extra, &event, 1, -1, &none);
	return r < 0 && errno == EINTR && atomic_exchange(&handled, 0) ? 0 : -1;
}

static int wait_suspend(struct member *member)
{
	sigset_t none;
	(void)member;
	sigemptyset(&none);
	sigsuspend(&none);
	return atomic_exchange(&handled, 0) ? 0 : -1;
}

static int wait_signal(struct member *member)
{
	sigset_t set;
	(void)member;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	const struct timespec patience = {.tv_sec = 600};
	return sigtimedwait(&set, NULL, &patience) == SIGUSR2 ? 0 : -1;
}

static int wait_futex(struct member *member)
{
	while (atomic_load(&member->word) == member->seen)
		if (syscall(SYS_futex, &member->word, FUTEX_WAIT, member->seen, NULL, NULL, 0) &&
		    errno != EAGAIN)
			return -1;
	return 0;
}

static int wait_sleep(struct member *member)
{
	const struct timespec nap = {.tv_nsec = 30 * 1000000};
	while (atomic_load(&member->word) == member->seen)
		if (nanosleep(&nap, NULL))
			return -1;
	return 0;
}

static int wait_spin(struct member *member)
{
	while (atomic_load(&member->word) == member->seen)
		;
	return 0;
}

static int wait_accept(struct member *member)
{
	const int fd = accept(member->extra, NULL, NULL);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int wait_child(struct member *member)
{
	int status;
	const pid_t pid = fork();
	if (!pid) {
		take_byte(member);
		_exit(7);
	}
	return waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7 ? 0 : -1;
}

static int wait_semaphore(struct member *member)
{
	struct sembuf take = {.sem_op = -1};
	return semop(member->extra, &take, 1);
}

// In the middle of malloc, as a signal handler that interrupted it would be.
static int wait_heap(struct member *member)
{
	lock_heap();
	const ssize_t size = take_byte(member);
	atomic_flag_clear(&heap);
	return size == 1 ? 0 : -1;
}

enum wake { WAKE_BYTE, WAKE_WORD, WAKE_USR1, WAKE_USR2, WAKE_CONNECT, WAKE_SEMAPHORE };
static const struct kind {
	const char *name;
	int (*wait)(struct member *member);
	enum wake wake;
} kinds[] = {
    {"read", wait_read, WAKE_BYTE},
    {"recv", wait_recv, WAKE_BYTE},
    {"poll", wait_poll, WAKE_BYTE},
    {"ppoll", wait_ppoll, WAKE_BYTE},
    {"select", wait_select, WAKE_BYTE},
    {"epoll", wait_epoll, WAKE_BYTE},
    {"epoll-signal", wait_epoll_signal, WAKE_USR1},
    {"suspend", wait_suspend, WAKE_USR1},
    {"signal", wait_signal, WAKE_USR2},
    {"futex", wait_futex, WAKE_WORD},
    {"sleep", wait_sleep, WAKE_WORD},
    {"spin", wait_spin, WAKE_WORD},
    {"accept", wait_accept, WAKE_CONNECT},
    {"child", wait_child, WAKE_BYTE},
    {"semaphore", wait_semaphore, WAKE_SEMAPHORE},
    {"heap", wait_heap, WAKE_BYTE},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void *serve(void *argument)
{
	struct member *member = argument;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	member->tid = (int)syscall(SYS_gettid);
	shared->ready++;
	while (!shared->over) {
		if (kinds[member->kind].wait(member)) {
			member->eintrs++;
			continue;
		}
		// Kinds without an event of their own wait until the word differs from this.
		member->seen = member->word;
		for (unsigned i = shared->over ? 0 : shared->amount; i; i--)
			member->sum += work(i);
		member->calls += shared->over ? 0 : shared->amount;
	}
	return NULL;
}

static int be_program(void)
{
	pthread_t threads[THREADS];
	struct sigaction action = {.sa_handler = handle};
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	// A test that fails must leave nothing that spins.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->pid = getpid();
	for (int i = 1; i < shared->count; i++)
		if (pthread_create(&threads[i], NULL, serve, &shared->members[i]))
			return 1;
	serve(&shared->members[0]);
	for (int i = 1; i < shared->count; i++)
		pthread_join(threads[i], NULL);
	return 5;
}

// ---- the other process

static void wake(struct member *member)
{
	const int tid = member->tid;
	const struct sembuf give = {.sem_op = 1};
	member->word++;
	switch (kinds[member->kind].wake) {
	case WAKE_BYTE:
		if (write(member->ends[1], "x", 1) != 1)
			abort();
		break;
	case WAKE_WORD:
		syscall(SYS_futex, &member->word, FUTEX_WAKE, 1, NULL, NULL, 0);
		break;
	case WAKE_USR1:
		syscall(SYS_tgkill, shared->pid, tid, SIGUSR1);
		break;
	case WAKE_USR2:
		syscall(SYS_tgkill, shared->pid, tid, SIGUSR2);
		break;
	case WAKE_CONNECT: {
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (void *)&member->address, sizeof(member->address)))
			abort();
		close(fd);
		break;
	}
	case WAKE_SEMAPHORE:
		semop(member->extra, (struct sembuf *)&give, 1);
		break;
	}
}

static void prepare(struct member *member, const char *name, int number)
{
	while (member->kind < KINDS && strcmp(kinds[member->kind].name, name))
		member->kind++;
	if (member->kind == KINDS ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, member->ends))
		exit(2);
	if (kinds[member->kind].wake == WAKE_SEMAPHORE)
		member->extra = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	if (kinds[member->kind].wake != WAKE_CONNECT)
		return;
	member->address.sun_family = AF_UNIX;
	snprintf(member->address.sun_path + 1, 64, "late-%d-%d", (int)getpid(), number);
	member->extra = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(member->extra, (void *)&member->address, sizeof(member->address)) ||
	    listen(member->extra, 5))
		exit(2);
}

static unsigned long total(size_t offset)
{
	unsigned long sum = 0;
	for (int i = 0; i < shared->count; i++)
		sum += *(atomic_ulong *)(void *)((char *)&shared->members[i] + offset);
	return sum;
}

static void wake_all(void)
{
	for (int i = 0; i < shared->count; i++)
		wake(&shared->members[i]);
}

int main(int argc, char **argv)
{
	char line[64];
	int status = 0;
	unsigned amount;
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared->count = argc - 1;
	for (int i = 0; i < shared->count; i++)
		prepare(&shared->members[i], argv[i + 1], i);
	setvbuf(stdout, NULL, _IOLBF, 0);
	const pid_t pid = fork();
	if (!pid)
		exit(be_program());
	while (shared->ready != shared->count)
		usleep(1000);
	printf("ready %d\n", (int)pid);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "go %u", &amount) != 1)
			continue;
		const unsigned long before = total(offsetof(struct member, calls));
		const unsigned long wanted = (unsigned long)amount * (unsigned long)shared->count;
		shared->amount = amount;
		wake_all();
		while (total(offsetof(struct member, calls)) - before != wanted)
			usleep(1000);
		printf("done %lu\n", wanted);
	}
	shared->over = 1;
	wake_all();
	waitpid(pid, &status, 0);
	for (int i = 0; i < shared->count; i++)
		if (kinds[shared->members[i].kind].wake == WAKE_SEMAPHORE)
			semctl(shared->members[i].extra, 0, IPC_RMID);
	printf("over %lu %d\n", total(offsetof(struct member, eintrs)),
	    WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	return 0;
}
