// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which process has a log mapped: no lock tells, since the program closes the file.
#define _GNU_SOURCE
#include "log_user.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// Its maps have lines "from-to mode offset major:minor inode path".
bool tp_log_file_maps(pid_t pid, dev_t device, ino_t inode)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	char *line = NULL;
	size_t capacity = 0;
	bool found = false;
	while (!found && getline(&line, &capacity, file) > 0) {
		unsigned major_number;
		unsigned minor_number;
		unsigned long long number;
		found = sscanf(line, "%*s %*s %*s %x:%x %llu", &major_number, &minor_number,
			    &number) == 3 &&
			number == inode && major_number == major(device) &&
			minor_number == minor(device);
	}
	free(line);
	fclose(file);
	return found;
}

pid_t tp_log_file_user(dev_t device, ino_t inode)
{
	DIR *folder = opendir("/proc");
	if (!folder)
		return 0;
	pid_t user = 0;
	for (struct dirent *entry; !user && (entry = readdir(folder));) {
		const pid_t pid = (pid_t)atoi(entry->d_name);
		if (pid > 0 && pid != getpid() && tp_log_file_maps(pid, device, inode))
			user = pid;
	}
	closedir(folder);
	return user;
}

// A lease for writing is only to be had on a file that nobody else has open; a mapping counts, too.
int tp_log_file_in_use(int fd)
{
	// Who opens the file in this moment waits for us to be told so, by a signal that does no harm.
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_WRLCK))
		return errno == EAGAIN ? 1 : -1;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}
