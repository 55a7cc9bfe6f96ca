// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first process of a virtual machine of the tests (lib/machine.py): does what the host asks
// for, a line at a time.
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
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 4096, WORDS = 64, NAP_US = 10000 };
static const char OUTPUT[] = "/output";

// To the console, which the host keeps in a file, and the end of the machine.
static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "machine_init: %s: %s\n", what, strerror(errno));
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void mount_all(void)
{
	static const char *const all[][2] = {
	    {"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/dev/shm"}};
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		mkdir(all[i][1], 0755);
		if (mount(all[i][0], all[i][1], all[i][0], 0, NULL))
			give_up(all[i][1]);
	}
}

// /modules/0.ko and so on, in this order.
static void load_modules(void)
{
	for (unsigned i = 0;; i++) {
		char path[32];
		snprintf(path, sizeof(path), "/modules/%u.ko", i);
		const int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return;
		if (syscall(SYS_finit_module, fd, "", 0))
			give_up(path);
		close(fd);
	}
}

// The virtio port that the host has given this name. They come when their driver has looked.
static void find_port(const char *name, char path[LINE])
{
	for (;; usleep(NAP_US))
		for (unsigned i = 1; i < 8; i++) {
			char found[64] = "";
			snprintf(path, LINE, "/sys/class/virtio-ports/vport0p%u/name", i);
			FILE *file = fopen(path, "re");
			if (!file)
				continue;
			const bool read = fgets(found, sizeof(found), file);
			fclose(file);
			found[strcspn(found, "\n")] = '\0';
			snprintf(path, LINE, "/dev/vport0p%u", i);
			if (read && !strcmp(found, name) && !access(path, F_OK))
				return;
		}
}

static void answer(FILE *control, const char *what, long number, long bytes)
{
	fprintf(control, "%s %ld %ld\n", what, number, bytes);
	fflush(control);
}

static pid_t start(char **words)
{
	const pid_t child = fork();
	if (child)
		return child;
	const int output = open(OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	close(output);
	setsid();
	for (; *words && strchr(*words, '='); words++)
		putenv(*words);
	if (*words)
		execv(*words, words);
	_exit(127);
}

static long status_of(pid_t child)
{
	int status = 0;
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// The file behind an answer that says how long it is.
static void send_file(FILE *control, const char *path, const char *what, long number)
{
	struct stat status = {0};
	FILE *file = fopen(path, "re");
	if (!file || fstat(fileno(file), &status)) {
		if (file)
			fclose(file);
		answer(control, what, number, 0);
		return;
	}
	fprintf(control, "%s %ld %ld\n", what, number, (long)status.st_size);
	char bytes[16384];
	size_t got;
	while ((got = fread(bytes, 1, sizeof(bytes), file)))
		fwrite(bytes, 1, got, control);
	fclose(file);
	fflush(control);
}

// Wait until somebody is at the other end of the port with this name, or nobody any more; its path
// is left.
static void await_host(const char *name, bool gone, char path[LINE])
{
	find_port(name, path);
	const int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	struct pollfd one = {.fd = fd, .events = POLLOUT};
	while (poll(&one, 1, 0) >= 0 && !!(one.revents & POLLHUP) != gone)
		usleep(NAP_US);
	close(fd);
}

static void obey(FILE *control, char **words)
{
	static pid_t running = -1;
	if (!strcmp(words[0], "run"))
		send_file(control, OUTPUT, "exit", status_of(start(words + 1)));
	else if (!strcmp(words[0], "start"))
		answer(control, "started", running = start(words + 1), 0);
	else if ((!strcmp(words[0], "kill") || !strcmp(words[0], "wait")) && running > 0) {
		if (words[0][0] == 'k')
			kill(running, SIGKILL);
		send_file(control, OUTPUT, "exit", status_of(running));
		running = -1;
	} else if (!strcmp(words[0], "get") && words[1])
		send_file(control, words[1], "file", access(words[1], R_OK));
	else if (!strcmp(words[0], "await") && words[1] && words[2]) {
		char path[LINE];
		await_host(words[1], !strcmp(words[2], "gone"), path);
		fprintf(control, "connected 0 %zu\n%s", strlen(path), path);
		fflush(control);
	} else if (!strcmp(words[0], "off")) {
		answer(control, "off", 0, 0);
		sync();
		reboot(RB_POWER_OFF);
	} else
		answer(control, "what", -1, 0);
}

int main(void)
{
	mount_all();
	load_modules();
	char path[LINE];
	find_port("control", path);
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		give_up(path);
	FILE *control = fdopen(fd, "r+e");
	setenv("PATH", "/usr/bin:/bin", 1);
	for (;;) {
		char line[LINE];
		// Between two clients there is nothing to read.
		if (!fgets(line, sizeof(line), control)) {
			clearerr(control);
			usleep(NAP_US);
			continue;
		}
		char *words[WORDS + 1] = {0};
		unsigned count = 0;
		for (char *word = strtok(line, " \n"); word && count < WORDS;
		     word = strtok(NULL, " \n"))
			words[count++] = word;
		if (count)
			obey(control, words);
	}
}
