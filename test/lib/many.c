// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// teeperf again and again for one test (many.py): starts and loads libraries once, and forks for
// each command, as most of what a short command takes is starting.
// A command on standard input is: how many words it has, the files for standard output and standard
// error, and the words, each ended by a zero byte. The answer is its status as waitpid has it, a
// line.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int teeperf_main(int argc, char **argv);
#define main teeperf_main
#include "cli/main.c"
#undef main

static char *read_word(void)
{
	char *word = NULL;
	size_t room = 0;
	const ssize_t length = getdelim(&word, &room, 0, stdin);
	if (length < 1 || word[length - 1])
		exit(0);
	return word;
}

static void put_file(int to, const char *path, int flags)
{
	const int file = open(path, flags, 0666);
	if (file < 0 || dup2(file, to) < 0) {
		perror(path);
		_exit(126);
	}
	close(file);
}

// Where the child's LeakSanitizer finds them, whatever the command makes of its words.
static char *count, *out, *err, **with, **kept;

int main(int argc, char **argv)
{
	if (argc != 2)
		return 129;
	for (;;) {
		count = read_word();
		const int words = atoi(count) + 1;
		out = read_word();
		err = read_word();
		with = calloc((size_t)words + 1, sizeof(*with));
		kept = calloc((size_t)words + 1, sizeof(*kept));
		if (!with || !kept)
			return 1;
		with[0] = strdup(argv[1]);
		for (int i = 1; i < words; i++)
			with[i] = read_word();
		memcpy(kept, with, (size_t)words * sizeof(*kept));
		const pid_t child = fork();
		if (child < 0)
			return 1;
		if (!child) {
			put_file(STDIN_FILENO, "/dev/null", O_RDONLY);
			put_file(STDERR_FILENO, err, O_WRONLY | O_CREAT | O_TRUNC);
			put_file(STDOUT_FILENO, out, O_WRONLY | O_CREAT | O_TRUNC);
			return teeperf_main(words, with);
		}
		int status = 0;
		if (waitpid(child, &status, 0) != child)
			return 1;
		printf("%d\n", status);
		fflush(stdout);
		for (int i = 0; i < words; i++)
			free(with[i]);
		free(with);
		free(kept);
		free(count);
		free(out);
		free(err);
	}
}
