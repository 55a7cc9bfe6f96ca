// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hostile host: makes the shared log as a recorder does, starts hostile_program with it, and
// writes random and chosen values over every word of it, also while the program attaches.
//
//   hostile_host PROGRAM LIBRARY ROUNDS SEED STEP PATIENCE [FOLDER]
//
// Each run of the program has a seed, STEP more than the one before: with a multiple of 4 the host
// attacks while the program attaches, in some of the others it stops for a while, or cuts the file
// short in the end. With 4 more than a multiple of 8 it steps through the program's attaching, and
// attacks between two instructions, others in each run: this shows any word that is read twice,
// even on one processor. PATIENCE, in seconds, is how long a program may stand still.
//
// HOSTILE_CLOCK, when this is compiled, is the clock of the program's processor if that is another
// one than this, which an emulator plays: it then gets no signal that emulators have for
// themselves.
//
// More than 600 lines, and one file: targets, attacks, and the conditions that must then hold share
// one picture of the log, and the tests hostile/host-against-* compile it with one command, without
// the build.
//
// A round is a burst of such writes and then one or more bursts of the program's work with the
// right result. It prints what was done and exits with 0 if nothing was wrong: the program never
// died, never stood still and found all its memory as it was. The first logs, as they are
// afterwards, are left in FOLDER.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include <teeperf/log.h>

#include "hostile_dice.h"
#include "hostile_runs.h"

enum {
	CHUNKS = 16, // where things are is as in a recorder's log of 1 MiB: see replay_log.c
	MODULES = 2048,
	THREADS = 16384,
	SELECTED = 16384,
	ROUNDS_A_RUN = 2000,
	ROUNDS_STEPPED = 10,
	NO_TRACE = 126, // exit status of a program that cannot be stepped through
	KEPT = 8,
#ifdef HOSTILE_CLOCK
	SIGNALS = 1,
#else
	SIGNALS = 3,
#endif
};
static const uint64_t CHUNK = UINT64_C(1) << TEEPERF_CHUNK_SHIFT_DEFAULT;

static struct teeperf_log_header good; // as it should be
static struct teeperf_log_header *header;
static uint64_t *words;
static uint64_t region_size;
static uint64_t *supply, *states;
static int log_fd;
static char log_path[64];
static pid_t program;
static bool listens;
static bool late; // the program takes the log while it runs, and leaves it, again and again
static uint64_t patience_s;

static struct {
	uint64_t rounds, writes, refused, taken, faults, stops, files, stepped;
} done;

static void fail(const char *what)
{
	fprintf(stderr, "FAILED: seed %llu, round %llu: %s%s%s\n", (unsigned long long)side->seed,
	    (unsigned long long)done.rounds, what, side->problem[0] ? ": " : "", side->problem);
	// With the processes that it forked: one that hangs would keep whoever reads our output
	// waiting.
	if (program > 0)
		kill(-program, SIGKILL);
	unlink(log_path);
	exit(1);
}

static void put(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
	done.writes++;
}

static uint64_t get(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

// A value that somebody might take for an offset, a size, a number, an index or a flag.
static uint64_t value(void)
{
	const uint64_t chosen[] = {0, 1, 2, 7, 8, 63, 64, CHUNKS - 1, CHUNKS, CHUNKS + 1, CHUNK - 8,
	    CHUNK, CHUNK + 8, region_size - 8, region_size, region_size + CHUNK, INT32_MAX,
	    UINT32_MAX, UINT64_C(1) << 32, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX - 7,
	    UINT64_MAX - 1, UINT64_MAX, (1 << 24) - 1, 1 << 24, good.supply_offset,
	    good.state_offset, good.threads_offset, good.chunks_offset};
	switch (any(4)) {
	case 0:
		return chosen[any(sizeof(chosen) / sizeof(chosen[0]))];
	case 1:
		return any(UINT64_MAX);
	case 2:
		return UINT64_C(1) << any(64);
	default:
		return any(2) ? any(CHUNKS) : any(region_size) & ~UINT64_C(7);
	}
}

// ---- the attacks --------------------------------------------------------------------------------

static void write_header_word(void)
{
	put(&words[any(TEEPERF_LOG_HEADER_SIZE / 8)], value());
}

// One of the constants, in its own width.
static void write_constant(void)
{
	uint32_t *halves = (uint32_t *)header;
	halves[any(offsetof(struct teeperf_log_header, counter) / 4)] = (uint32_t)value();
	done.writes++;
}

static void write_control(void)
{
	put(&header->control, any(4) ? get(&header->control) + 1 : value());
}

// Backwards, and upper halves that jump; now and then the one that stands for "no chunk".
static void write_counter(void)
{
	const uint64_t now = get(&header->counter);
	const uint64_t next[] = {now + 1, now + any(100000), now - any(100000), value(),
	    now + (any(5) << 32), UINT64_C(0xffffffff00000000) | any(UINT32_MAX)};
	put(&header->counter, next[any(sizeof(next) / sizeof(next[0]))]);
}

static void write_ends(void)
{
	put(any(2) ? &header->tail : &header->head,
	    any(2) ? value() : get(&header->tail) + any(64) - 32);
}

/*
 * Chunks for the next tickets, as a generous host has them, but which ones: out of range, one for
 * several threads, one that is in use.
 */
static void serve(void)
{
	const uint64_t tail = get(&header->tail);
	const uint64_t same = any(3) ? any(1 << TEEPERF_SUPPLY_CHUNK_BITS) : any(CHUNKS);
	const bool is_same = any(2);
	for (uint64_t ticket = tail - 4; ticket != tail + CHUNKS - 4; ticket++)
		put(&supply[ticket % CHUNKS],
		    TEEPERF_SUPPLY_SLOT(ticket, is_same  ? same
						: any(2) ? any(1 << TEEPERF_SUPPLY_CHUNK_BITS)
							 : any(CHUNKS)));
	put(&header->head, tail + CHUNKS);
}

static void write_slots(void)
{
	put(&supply[any(CHUNKS)],
	    any(2) ? value() : TEEPERF_SUPPLY_SLOT(get(&header->tail) + any(4), value()));
}

static void write_states(void)
{
	put(&states[any(CHUNKS)], any(2) ? any(4) : value());
}

static void write_tables(void)
{
	const uint64_t from = good.modules_offset / 8;
	const uint64_t first = any(2) ? any(good.chunks_offset / 8 - from) : any(4096);
	put(&words[from + first], value());
}

static void write_chunk_header(void)
{
	put(&words[(good.chunks_offset + any(CHUNKS) * CHUNK) / 8 + any(8)], value());
}

// Records and counts, where a thread is about to write, or has written.
static void write_records(void)
{
	const uint64_t chunk = (good.chunks_offset + any(CHUNKS) * CHUNK) / 8;
	const uint64_t first = any(2) ? any(128) : any(CHUNK / 8 - 64);
	const bool clear = any(2);
	for (uint64_t i = 0; i < 64; i++)
		put(&words[chunk + first + i], clear ? 0 : value());
}

// Another choice of functions, of a list that is as it comes, and now and then longer than there is
// room for.
static void write_selection(void)
{
	const uint64_t list = good.selection_offset / 8 + any(2 * SELECTED - 64);
	const uint32_t room = any(4) ? SELECTED : UINT32_MAX >> 2;
	for (uint64_t i = 0; i < 64; i++)
		put(&words[list + i], any(2) ? get(&words[list + any(64)]) : value());
	put(&header->selection, TEEPERF_SELECTION(any(8), any(4), any(room)));
}

static void write_anywhere(void)
{
	put(&words[any(region_size / 8)], value());
}

// Now and then: operations on the file and signals cost more than a store.
static void do_other_things(void)
{
	switch (any(6)) {
	case 0:
		fallocate(log_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		    (off_t)any(region_size / 4096) * 4096, (off_t)(1 + any(8)) * 4096);
		break;
	case 1:
		ftruncate(log_fd, (off_t)(region_size + any(1 << 20)));
		break;
	case 2: {
		char other[80];
		snprintf(other, sizeof(other), "%s.other", log_path);
		rename(log_path, other);
		rename(other, log_path);
		break;
	}
	case 3:
		// Who takes it again and again would not find it any more.
		if (!late)
			unlink(log_path);
		break;
	default:
		// A program that has not attached does not listen, and only the first is harmless
		// then.
		kill(program, (int[]){SIGURG, SIGRTMIN, SIGRTMIN + 1}[listens ? any(SIGNALS) : 0]);
		return;
	}
	done.files++;
}

static void scribble(void)
{
	static void (*const attacks[])(void) = {write_header_word, write_constant, write_control,
	    write_counter, write_counter, write_ends, write_slots, write_states, write_tables,
	    write_chunk_header, write_records, write_selection, write_anywhere};
	for (uint64_t i = 0; i < CHUNKS; i++) {
		if (get(&states[i]) == TEEPERF_CHUNK_OWNED ||
		    get(&states[i]) == TEEPERF_CHUNK_DONE) {
			done.taken++;
			put(&states[i], 4);
		}
	}
	const uint64_t count = 1 + any(24);
	for (uint64_t i = 0; i < count; i++)
		attacks[any(sizeof(attacks) / sizeof(attacks[0]))]();
	// A host that gives nothing finds nothing out.
	if (any(8))
		serve();
	if (!any(64))
		do_other_things();
}

// ---- the program --------------------------------------------------------------------------------

static void make_log(void)
{
	snprintf(log_path, sizeof(log_path), "/dev/shm/hostile-teeperf-%d", (int)getpid());
	log_fd = open(log_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	good = (struct teeperf_log_header){
	    .magic = TEEPERF_LOG_MAGIC,
	    .major = TEEPERF_LOG_MAJOR,
	    .oldest_major = TEEPERF_LOG_OLDEST_MAJOR,
	    .header_size = TEEPERF_LOG_HEADER_SIZE,
	    .chunk_shift = TEEPERF_CHUNK_SHIFT_DEFAULT,
	    .chunk_count = CHUNKS,
	    .supply_offset = TEEPERF_LOG_HEADER_SIZE,
	    .module_capacity = MODULES,
	    .thread_capacity = THREADS,
	    .clock = any(2) ? TEEPERF_CLOCK_SOFT_TSC : TEEPERF_CLOCK_TSC,
	    .mode = any(2) ? TEEPERF_MODE_RING : TEEPERF_MODE_STREAM,
	    .ring = any(2) ? 2 + (uint32_t)any(CHUNKS / 2) : (uint32_t)any(UINT32_MAX),
	    .control = TEEPERF_ACTIVE,
	};
#if defined(HOSTILE_CLOCK)
	if (good.clock == TEEPERF_CLOCK_TSC)
		good.clock = HOSTILE_CLOCK;
#elif defined(__aarch64__)
	if (good.clock == TEEPERF_CLOCK_TSC)
		good.clock = TEEPERF_CLOCK_CNTVCT;
#elif defined(__riscv)
	if (good.clock == TEEPERF_CLOCK_TSC)
		good.clock = TEEPERF_CLOCK_RDTIME;
#endif
	good.state_offset = good.supply_offset + 8 * CHUNKS;
	good.modules_offset = good.state_offset + 8 * CHUNKS;
	good.threads_offset = good.modules_offset + MODULES * sizeof(struct teeperf_module);
	good.selection_offset = good.threads_offset + THREADS * sizeof(struct teeperf_thread);
	good.selection_capacity = SELECTED;
	good.only_offset = good.selection_offset + UINT64_C(2) * 8 * SELECTED;
	good.chunks_offset = (good.only_offset + CHUNK - 1) / CHUNK * CHUNK;
	region_size = good.region_size = good.chunks_offset + CHUNKS * CHUNK;
	if (log_fd < 0 || ftruncate(log_fd, (off_t)region_size))
		fail("cannot make a log");
	header = mmap(NULL, region_size, PROT_READ | PROT_WRITE, MAP_SHARED, log_fd, 0);
	if (header == MAP_FAILED)
		fail("cannot map the log");
	words = (uint64_t *)header;
	supply = (uint64_t *)((char *)header + good.supply_offset);
	states = (uint64_t *)((char *)header + good.state_offset);
	*header = good;
	serve();
}

static void start_program(const char *path, bool traced)
{
	char fd[16];
	snprintf(fd, sizeof(fd), "%d", side_fd);
	char control[32];
	snprintf(control, sizeof(control), "%d,%d,%d", SIGURG, SIGRTMIN, SIGRTMIN + 1);
	program = fork();
	if (program) {
		setpgid(program, program);
		return;
	}
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	const struct rlimit none = {0};
	setrlimit(RLIMIT_CORE, &none);
	fcntl(side_fd, F_SETFD, 0);
	setenv("HOSTILE_SIDE", fd, 1);
	if (!late)
		setenv(TEEPERF_LOG_ENV, log_path, 1);
	setenv(TEEPERF_CONTROL_ENV, control, 1);
	if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(NO_TRACE);
	execl(path, path, (char *)NULL);
	_exit(127);
}

static void explain(int status)
{
	char text[64];
	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "the program died of signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "the program ended with %d", WEXITSTATUS(status));
	program = 0;
	fail(text);
}

// A wait: {0} at first.
struct wait {
	uint64_t looked_ms; // when the host looked last
	uint64_t waited_ms;
};

// Whether all patience is spent. Time in which the host did not look counts little: whoever stopped
// it, or gave it no processor, had most likely none for the program.
static bool waited_enough(struct wait *wait)
{
	const uint64_t now = now_ms(), since = wait->looked_ms ? now - wait->looked_ms : 0;
	wait->looked_ms = now;
	wait->waited_ms += since < 100 ? since : 100;
	return wait->waited_ms > patience_s * 1000;
}

// Until the program has done work since it had done `before`.
static void await_burst(uint64_t before)
{
	struct wait wait = {0};
	for (uint64_t i = 0; __atomic_load_n(&side->bursts, __ATOMIC_ACQUIRE) == before; i++) {
		int status;
		if (i < 100)
			sched_yield();
		else
			nap(50000);
		if (i % 64 == 63 && waitpid(program, &status, WNOHANG) == program) {
			explain(status);
		}
		if (i % 64 == 63 && waited_enough(&wait))
			fail("the program stands still");
	}
}

static uint64_t bursts(void)
{
	return __atomic_load_n(&side->bursts, __ATOMIC_ACQUIRE);
}

static void finish_program(void)
{
	__atomic_store_n(&side->stop, 1, __ATOMIC_RELEASE);
	struct wait wait = {0};
	int status;
	while (waitpid(program, &status, WNOHANG) != program) {
		scribble();
		if (waited_enough(&wait))
			fail("the program does not end");
		nap(100000);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		explain(status);
	program = 0;
	if (!side->guarded)
		fail("there are no guards around the log");
	if (!side->checks)
		fail("nothing was checked");
}

// While it attaches the header changes all the time: right, wrong, right again.
static void attack_attaching(void)
{
	struct wait wait = {0};
	while (!bursts()) {
		int status;
		for (int i = 0; i < 200; i++) {
			if (any(2))
				write_constant();
			else
				put(&words[any(16)], value());
			if (any(3)) {
				memcpy(header, &good, offsetof(struct teeperf_log_header, counter));
				if (any(4) == 0)
					put(&header->pid, any(2));
			}
		}
		if (waitpid(program, &status, WNOHANG) == program)
			explain(status);
		if (waited_enough(&wait))
			fail("the program stands still");
		sched_yield();
	}
}

// Whether the program has the log in its memory.
static bool has_mapped(void)
{
	char path[64];
	char text[64 * 1024];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)program);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	for (ssize_t more; fd >= 0 && (more = read(fd, text + size, sizeof(text) - 1 - size)) > 0;)
		size += (size_t)more;
	close(fd);
	text[size] = '\0';
	return strstr(text, log_path) != NULL;
}

// Let the program go on until it stops again; false: it has ended, or is not traced.
static bool step(long how)
{
	int status;
	if (ptrace(how, program, NULL, NULL) || waitpid(program, &status, 0) != program)
		return false;
	if (WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP)
		fail("the program gets a signal while it attaches");
	if (WIFSTOPPED(status))
		return true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_TRACE)
		return false;
	explain(status);
	return false;
}

// Offsets behind the end of the log, and more of everything than there is.
static void write_too_large(bool all)
{
	uint64_t *const offsets[] = {&header->supply_offset, &header->state_offset,
	    &header->modules_offset, &header->threads_offset, &header->chunks_offset,
	    &header->only_offset, &header->selection_offset, &header->selection_capacity,
	    &header->region_size};
	uint32_t *const numbers[] = {&header->chunk_count, &header->module_capacity,
	    &header->thread_capacity, &header->only_count};
	const uint64_t chosen = any(13);
	for (uint64_t i = 0; i < 9; i++)
		if (all || chosen == i)
			put(offsets[i], region_size + CHUNK * any(4));
	for (uint64_t i = 0; i < 4; i++)
		if (all || chosen == 9 + i)
			__atomic_store_n(numbers[i], 1u << 24, __ATOMIC_RELAXED);
}

/*
 * Between two instructions of the program's attaching, from the log's mapping to its claiming:
 * instruction NUMBER, from the beginning again if that is more than there are.
 */
static bool attack_stepping(uint64_t number)
{
	static uint64_t most = UINT64_MAX;
	int status;
	if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status))
		return false;
	ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)PTRACE_O_EXITKILL);
	while (!has_mapped())
		if (!step(PTRACE_SYSCALL))
			return false;
	// Next it closes the file, then it reads the header.
	if (!step(PTRACE_SYSCALL) || !step(PTRACE_SYSCALL))
		return false;
	uint64_t steps = 0;
	for (; steps < number % most && !get(&header->pid); steps++)
		if (!step(PTRACE_SINGLESTEP))
			return false;
	if (get(&header->pid))
		most = steps + 1;
	write_too_large(any(2));
	done.stepped++;
	return ptrace(PTRACE_DETACH, program, NULL, NULL) == 0;
}

// The host does nothing at all until the program has done a lot, which a child of it sees. (To stop
// itself would be to sleep for ever if the child sees that before.)
static void stop_for_a_while(void)
{
	const pid_t witness = fork();
	if (!witness) {
		const uint64_t before = bursts();
		for (uint64_t i = 0; bursts() < before + 50 && i < patience_s * 1000; i++)
			nap(1000000);
		_exit(bursts() < before + 50);
	}
	int status;
	waitpid(witness, &status, 0);
	if (status)
		fail("the program stood still while the host did");
	done.stops++;
}

static void keep_log(const char *folder)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/log.%llu", folder, (unsigned long long)work.runs);
	const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	off_t from = 0;
	if (to < 0 || sendfile(to, log_fd, &from, region_size) < 0)
		fail("cannot keep the log");
	close(to);
}

/*
 * A file that is cut short takes memory away from the program, and the kernel ends it: a host can
 * always do that, and it can do no more.
 */
static void cut_file(void)
{
	ftruncate(log_fd, (off_t)any(good.chunks_offset));
	struct wait wait = {0};
	int status;
	while (waitpid(program, &status, WNOHANG) != program) {
		if (waited_enough(&wait))
			fail("the program does not end");
		__atomic_store_n(&side->stop, 1, __ATOMIC_RELEASE);
		nap(1000000);
	}
	const bool ended = WIFEXITED(status) && !WEXITSTATUS(status);
	if (!ended && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS))
		explain(status);
	program = 0;
	done.faults += !ended;
}

// A log that nobody has, as it should be, for a moment.
static void invite(void)
{
	memcpy(header, &good, offsetof(struct teeperf_log_header, counter));
	put(&header->pid, 0);
	__atomic_store_n(&header->attach, 0, __ATOMIC_RELEASE);
	serve();
}

static void await_late(void)
{
	struct wait wait = {0};
	while (!__atomic_load_n(&side->came, __ATOMIC_ACQUIRE)) {
		int status;
		invite();
		if (waitpid(program, &status, WNOHANG) == program)
			explain(status);
		if (waited_enough(&wait))
			fail("the program does not take the log");
		nap(1000000);
	}
}

static void run(
    const char *path, const char *library, uint64_t seed, uint64_t most, const char *folder)
{
	*side = (struct hostile_side){.seed = seed};
	snprintf(side->library, sizeof(side->library), "%s", library);
	random_state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	make_log();
	if (late)
		snprintf(side->late, sizeof(side->late), "%s", log_path);
	const bool attaching = !late && seed % 4 == 0;
	bool stepping = !late && seed % 8 == 4;
	listens = !late && !attaching;
	start_program(path, stepping);
	uint64_t rounds = ROUNDS_A_RUN < most ? ROUNDS_A_RUN : most;
	if (stepping && !attack_stepping(seed / 8)) {
		// Where no program may be traced.
		stepping = false;
		start_program(path, false);
	}
	if (stepping) {
		await_burst(0);
		rounds = rounds < ROUNDS_STEPPED ? rounds : ROUNDS_STEPPED;
	} else if (attaching) {
		attack_attaching();
		rounds = rounds < 50 ? rounds : 50;
	} else if (late) {
		await_late();
	} else {
		await_burst(0);
		if (__atomic_load_n(&header->attach, __ATOMIC_ACQUIRE) != TEEPERF_ATTACH_DONE)
			fail("the program has not attached");
	}
	for (uint64_t i = 0; i < rounds; i++) {
		const uint64_t before = bursts();
		scribble();
		if (late && !any(3))
			invite();
		await_burst(before);
		done.rounds++;
		if (i == rounds / 2 && seed % 8 == 1)
			stop_for_a_while();
	}
	if (folder && work.runs < KEPT)
		keep_log(folder);
	if (seed % 8 == 5)
		cut_file();
	else
		finish_program();
	add_run();
	unlink(log_path);
	munmap(header, region_size);
	close(log_fd);
}

int main(int argc, char **argv)
{
	late = getenv("HOSTILE_LATE") != NULL;
	if (argc < 7) {
		fprintf(stderr,
		    "usage: hostile_host PROGRAM LIBRARY ROUNDS SEED STEP PATIENCE [FOLDER]\n");
		return 2;
	}
	if (share_side())
		return 2;
	const uint64_t wanted = strtoull(argv[3], NULL, 10);
	const uint64_t seed = strtoull(argv[4], NULL, 10);
	const uint64_t step = strtoull(argv[5], NULL, 10);
	patience_s = strtoull(argv[6], NULL, 10);
	while (done.rounds < wanted)
		run(argv[1], argv[2], seed + step * work.runs, wanted - done.rounds,
		    argc > 7 ? argv[7] : NULL);
	printf(
	    "rounds=%llu runs=%llu seeds=%llu..%llu writes=%llu chunks=%llu stops=%llu files=%llu "
	    "cut=%llu stepped=%llu\n",
	    (unsigned long long)done.rounds, (unsigned long long)work.runs,
	    (unsigned long long)seed, (unsigned long long)(seed + step * (work.runs - 1)),
	    (unsigned long long)done.writes, (unsigned long long)done.taken,
	    (unsigned long long)done.stops, (unsigned long long)done.files,
	    (unsigned long long)done.faults, (unsigned long long)done.stepped);
	print_work();
	return 0;
}
