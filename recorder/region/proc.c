// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the kernel says of processes and of the machine in /proc.
#define _GNU_SOURCE
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// NULL: there is none, or we may not open it.
static FILE *open_file(pid_t pid, const char *name)
{
	char path[64];
	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	else
		snprintf(path, sizeof(path), "/proc/%s", name);
	return fopen(path, "re");
}

size_t tp_proc_read(pid_t pid, const char *name, char *text, size_t room)
{
	FILE *file = open_file(pid, name);
	const size_t size = file ? fread(text, 1, room - 1, file) : 0;
	text[size] = '\0';
	if (file)
		fclose(file);
	return size;
}

bool tp_proc_scan(pid_t pid, const char *name, const char *format, void *value)
{
	FILE *file = open_file(pid, name);
	if (!file)
		return false;
	char line[256];
	bool found = false;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, format, value) == 1;
	fclose(file);
	return found;
}

char *tp_proc_cpu(const char *key)
{
	FILE *file = open_file(0, "cpuinfo");
	if (!file)
		return NULL;
	char *line = NULL;
	char *value = NULL;
	size_t capacity = 0;
	while (!value && getline(&line, &capacity, file) > 0) {
		const char *colon = strchr(line, ':');
		if (!colon || strncmp(line, key, strlen(key)))
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		value = strndup(colon, strcspn(colon, "\n"));
	}
	free(line);
	fclose(file);
	return value;
}

// Lines of maps are "from-to mode offset major:minor inode path".
static bool is_of(const char *line, const struct tp_mapped *file)
{
	unsigned device[2];
	unsigned long long inode;
	if (file->path)
		return strstr(line, file->path) != NULL;
	return sscanf(line, "%*s %*s %*s %x:%x %llu", &device[0], &device[1], &inode) == 3 &&
	       inode == file->inode && makedev(device[0], device[1]) == file->device;
}

int tp_proc_maps(pid_t pid, const struct tp_mapped *mapped)
{
	FILE *file = open_file(pid, "maps");
	if (!file)
		return -1;
	char *line = NULL;
	size_t capacity = 0;
	int found = 0;
	while (!found && getline(&line, &capacity, file) > 0)
		found = is_of(line, mapped);
	if (ferror(file))
		found = -1;
	free(line);
	fclose(file);
	return found;
}

pid_t tp_proc_user(const struct tp_mapped *file)
{
	DIR *folder = opendir("/proc");
	if (!folder)
		return 0;
	pid_t user = 0;
	for (struct dirent *entry; !user && (entry = readdir(folder));) {
		const pid_t pid = (pid_t)atoi(entry->d_name);
		if (pid > 0 && pid != getpid() && tp_proc_maps(pid, file) > 0)
			user = pid;
	}
	closedir(folder);
	return user;
}

// Only a file that nobody else has open gives a lease for writing; a mapping counts, too.
int tp_file_in_use(int fd)
{
	// Another process that opens the file at this moment waits until a harmless signal informs
	// us.
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_WRLCK))
		return errno == EAGAIN ? 1 : -1;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}
