// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hostile host for programs that send frames: starts hostile_program, whose frames it takes
// quickly, slowly, in bits, not at all, not any more; it writes back, changes the pipe under it,
// cuts the file, stops and continues it.
//
//   hostile_taker PROGRAM LIBRARY ROUNDS SEED STEP PATIENCE TRANSPORTS [FOLDER]
//
// TRANSPORTS are letters: p pipe, s pair of sockets, u socket by path, f file. Each run of the
// program has a seed, STEP more than the one before. While the host takes what comes, or has gone,
// the program must go on, within PATIENCE seconds; in the end it must end, and all its work must
// have come out right. What came must be frames that are whole, in order, up to where the host left
// or lied. The first streams are left in FOLDER: whole.N, or cut.N.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <teeperf/stream.h>

#include "hostile_dice.h"
#include "hostile_runs.h"

enum { ROUNDS_A_RUN = 60, KEPT = 8 };

// What the host does with a run's frames.
enum plan {
	TAKES,   /* all of it, however slowly */
	LIES,    /* the same, and its calls give false answers (MODE 2) */
	LEAVES,  /* goes in the middle */
	NOTHING, /* takes nothing, and goes in the end */
	/* of a file: cuts it, writes into it; of others: as LEAVES, after a while of nothing */
	CUTS,
	PLANS
};

static pid_t program;
static uint64_t patience_s, mode;
static char transport;
static enum plan plan;
static int from = -1; // where frames are taken from
static int to = -1;   // what the program has inherited: the same open file
static int listener = -1;
static int kept = -1; // a copy of what came
static char path[64];

static struct {
	uint64_t rounds, bytes, frames, chunks, whole, left, stops;
} done;

static void fail(const char *what, uint64_t number)
{
	fprintf(stderr, "FAILED: seed %llu, transport %c, plan %d: %s %llu%s%s\n",
	    (unsigned long long)side->seed, transport, (int)plan, what, (unsigned long long)number,
	    side->problem[0] ? ": " : "", side->problem);
	if (program > 0)
		kill(program, SIGKILL);
	unlink(path);
	exit(1);
}

static void explain(int status)
{
	program = 0;
	if (WIFSIGNALED(status))
		fail("the program died of signal", (uint64_t)WTERMSIG(status));
	fail("the program ended with", (uint64_t)WEXITSTATUS(status));
}

// ---- the frames: any number of bytes at a time

static struct {
	struct teeperf_frame head;
	uint64_t have, left;     // bytes of the head; of the payload
	uint64_t number, wanted; // of frames; of bytes
	bool ended;
} parsed;

static void take_head(void)
{
	const struct teeperf_frame *head = &parsed.head;
	if (head->magic != TEEPERF_FRAME_MAGIC || head->version != TEEPERF_FRAME_VERSION)
		fail("no frame begins at frame", parsed.number);
	if (head->length > TEEPERF_FRAME_MAX || head->offset % 8 || parsed.ended ||
	    (head->kind == TEEPERF_FRAME_START) != !parsed.number)
		fail("a wrong frame", parsed.number);
	parsed.left = (head->length + 7) & ~UINT64_C(7);
	parsed.ended = head->kind == TEEPERF_FRAME_END;
	parsed.number++;
	done.frames++;
	done.chunks += head->kind == TEEPERF_FRAME_CHUNK;
}

static void parse(const char *bytes, uint64_t size)
{
	while (size) {
		uint64_t part = parsed.left ? parsed.left : sizeof(parsed.head) - parsed.have;
		part = part < size ? part : size;
		if (parsed.left) {
			parsed.left -= part;
		} else {
			memcpy((char *)&parsed.head + parsed.have, bytes, part);
			parsed.have += part;
			if (parsed.have == sizeof(parsed.head)) {
				parsed.have = 0;
				take_head();
			}
		}
		bytes += part;
		size -= part;
	}
}

// Read at most MOST bytes. False: there were none.
static bool take(uint64_t most)
{
	static char bytes[1 << 18];
	most = most < sizeof(bytes) ? most : sizeof(bytes);
	// A pipe that both have open is left as it is: non-blocking, or not.
	struct pollfd state = {.fd = from, .events = POLLIN};
	if (from < 0 || (transport != 'f' && poll(&state, 1, 0) <= 0))
		return false;
	const ssize_t got = read(from, bytes, most);
	if (got <= 0)
		return false;
	done.bytes += (uint64_t)got;
	if (kept >= 0 && write(kept, bytes, (size_t)got) != got)
		fail("cannot keep the stream", (uint64_t)errno);
	if (plan != LIES && !(plan == CUTS && transport == 'f'))
		parse(bytes, (uint64_t)got);
	return true;
}

// ---- what the host does

static uint64_t bursts(void)
{
	return __atomic_load_n(&side->bursts, __ATOMIC_ACQUIRE);
}

static void leave(void)
{
	if (from < 0)
		return;
	const struct linger at_once = {1, 0};
	if (transport == 's' && any(2))
		shutdown(from, any(2) ? SHUT_RD : SHUT_RDWR);
	if (transport == 's' || transport == 'u')
		setsockopt(from, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(from);
	from = -1;
	done.left++;
}

static void change_file(void)
{
	static const char rubbish[4096] = "rubbish";
	const off_t size = lseek(to, 0, SEEK_END);
	switch (any(4)) {
	case 0:
		ftruncate(to, 0);
		break;
	case 1:
		ftruncate(to, size / 2);
		break;
	case 2:
		fallocate(to, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size / 2 + 1);
		break;
	default:
		(void)!write(to, rubbish, 1 + any(sizeof(rubbish)));
		break;
	}
}

static void do_something(void)
{
	static const char rubbish[256] = "HTTP/1.1 200 OK";
	switch (any(8)) {
	case 0:
		if (to >= 0)
			fcntl(to, F_SETFL, any(2) ? O_NONBLOCK : 0);
		break;
	case 1:
		if (transport == 'p')
			fcntl(to, F_SETPIPE_SZ, (int)(4096 << any(6)));
		break;
	case 2:
		if (transport == 's' || transport == 'u')
			(void)!send(
			    from, rubbish, any(sizeof(rubbish)), MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 3: {
		const int size = (int)(1 << any(18));
		setsockopt(from, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
		break;
	}
	case 4:
		kill(program, SIGUSR1); // interrupts what waits
		break;
	case 5:
		if (!any(8)) {
			kill(program, SIGSTOP);
			nap(1000000);
			kill(program, SIGCONT);
			done.stops++;
		}
		break;
	case 6:
		if (plan == CUTS && transport == 'f')
			change_file();
		break;
	default:
		nap((long)any(3000000));
	}
}

// The program is to go on, whatever there is to be taken for it.
static void await(uint64_t before)
{
	const uint64_t deadline = now_ms() + patience_s * 1000;
	while (bursts() == before) {
		int status;
		if (!take(1 + any(any(4) ? 1 << 18 : 100)))
			nap(50000);
		if (waitpid(program, &status, WNOHANG) == program)
			explain(status);
		if (now_ms() > deadline)
			fail("the program stands still behind bursts", before);
	}
}

static void finish(void)
{
	__atomic_store_n(&side->stop, 1, __ATOMIC_RELEASE);
	const uint64_t deadline = now_ms() + patience_s * 1000;
	int status;
	while (waitpid(program, &status, WNOHANG) != program) {
		if (!take(UINT64_MAX))
			nap(50000);
		if (now_ms() > deadline)
			fail("the program does not end, rounds", done.rounds);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		explain(status);
	program = 0;
	while (take(UINT64_MAX))
		;
	if (!side->guarded)
		fail("there are no guards around the log", 0);
	if (!side->checks)
		fail("nothing was checked", 0);
}

// ---- the program

static void open_transport(char *setting, size_t size)
{
	int ends[2] = {-1, -1};
	snprintf(path, sizeof(path), "taker.%d", (int)getpid());
	if (transport == 'u') {
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		strcpy(address.sun_path, path);
		listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (bind(listener, (const struct sockaddr *)&address, sizeof(address)) ||
		    listen(listener, 1))
			fail("cannot listen", (uint64_t)errno);
		snprintf(setting, size, "unix:%s", path);
		return;
	}
	if (transport == 'f') {
		ends[1] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
		ends[0] = open(path, O_RDONLY | O_CLOEXEC);
	} else if (transport == 'p' ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
		fail("cannot make a pipe", (uint64_t)errno);
	}
	from = ends[0];
	to = ends[1];
	fcntl(from, F_SETFD, FD_CLOEXEC);
	snprintf(setting, size, "fd:%d", to);
}

static void start_program(const char *file)
{
	char setting[80];
	char calls[64];
	char fd[16];
	open_transport(setting, sizeof(setting));
	snprintf(calls, sizeof(calls), "%llu,%llu", (unsigned long long)mode,
	    (unsigned long long)side->seed);
	snprintf(fd, sizeof(fd), "%d", side_fd);
	program = fork();
	if (!program) {
		const struct rlimit none = {0};
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGPIPE, SIG_DFL);
		fcntl(side_fd, F_SETFD, 0);
		setenv("HOSTILE_SIDE", fd, 1);
		setenv("HOSTILE_CALLS", calls, 1);
		setenv("TEEPERF_STREAM", setting, 1);
		execl(file, file, (char *)NULL);
		_exit(127);
	}
	if (transport == 'u') {
		from = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		close(listener);
		unlink(path);
	}
	// So that the program alone keeps it open, in some of the runs.
	if (to >= 0 && transport != 'f' && any(2)) {
		close(to);
		to = -1;
	}
}

static void keep(const char *folder)
{
	char name[300];
	const bool whole = plan == TAKES;
	if (!folder || work.runs >= KEPT || (plan == LIES && mode < 2))
		return;
	snprintf(name, sizeof(name), "%s/%s.%llu", folder, whole ? "whole" : "cut",
	    (unsigned long long)work.runs);
	kept = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void run(const char *file, const char *library, uint64_t seed, const char *transports,
    const char *folder)
{
	*side = (struct hostile_side){.seed = seed};
	snprintf(side->library, sizeof(side->library), "%s", library);
	random_state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	memset(&parsed, 0, sizeof(parsed));
	plan = (enum plan)(seed % PLANS);
	transport = transports[seed / PLANS % strlen(transports)];
	mode = plan == LIES ? 2 : any(2);
	keep(folder);
	start_program(file);
	if (plan != NOTHING)
		await(0);
	for (uint64_t i = 0; i < ROUNDS_A_RUN; i++, done.rounds++) {
		const uint64_t before = bursts();
		if (plan == NOTHING || (plan == CUTS && transport != 'f' && i < ROUNDS_A_RUN / 2)) {
			nap((long)any(1000000));
			if (before)
				do_something();
			continue;
		}
		if ((plan == LEAVES || plan == CUTS) && transport != 'f' && i == ROUNDS_A_RUN / 2)
			leave();
		do_something();
		await(before);
	}
	if (plan == NOTHING && transport != 'f') {
		leave();
		// With nobody there it must go on, too.
		await(bursts());
	}
	if (to >= 0 && transport != 'f') {
		close(to);
		to = -1;
	}
	finish();
	if (plan == TAKES && (!parsed.ended || parsed.left || parsed.have))
		fail("the stream has no end, frames", parsed.number);
	done.whole += parsed.ended;
	int *const fds[] = {&from, &to, &kept};
	for (int i = 0; i < 3; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	unlink(path);
	add_run();
}

int main(int argc, char **argv)
{
	if (argc < 8) {
		fprintf(stderr, "usage: hostile_taker PROGRAM LIBRARY ROUNDS SEED STEP PATIENCE "
				"TRANSPORTS [FOLDER]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (share_side())
		return 2;
	const uint64_t wanted = strtoull(argv[3], NULL, 10);
	const uint64_t seed = strtoull(argv[4], NULL, 10);
	const uint64_t step = strtoull(argv[5], NULL, 10);
	patience_s = strtoull(argv[6], NULL, 10);
	while (done.rounds < wanted)
		run(argv[1], argv[2], seed + step * work.runs, argv[7], argc > 8 ? argv[8] : NULL);
	printf("rounds=%llu runs=%llu seeds=%llu..%llu bytes=%llu frames=%llu chunks=%llu "
	       "whole=%llu left=%llu "
	       "stops=%llu\n",
	    (unsigned long long)done.rounds, (unsigned long long)work.runs,
	    (unsigned long long)seed, (unsigned long long)(seed + step * (work.runs - 1)),
	    (unsigned long long)done.bytes, (unsigned long long)done.frames,
	    (unsigned long long)done.chunks, (unsigned long long)done.whole,
	    (unsigned long long)done.left, (unsigned long long)done.stops);
	print_work();
	return 0;
}
