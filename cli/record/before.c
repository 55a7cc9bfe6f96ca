// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks before anything is started: the program's processor and rights, and the place of the
// trace.
#define _GNU_SOURCE
#include "record.h"
#include "common/process.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#elif defined(__riscv)
enum { OWN_MACHINE = EM_RISCV };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

// The processor that an executable file is for, if it is one that we record and not ours.
static const char *foreign_machine(const char *path)
{
	struct stat info;
	unsigned char head[20];
	if (stat(path, &info) || !S_ISREG(info.st_mode) || access(path, X_OK))
		return NULL;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	const ssize_t size = read(fd, head, sizeof(head));
	close(fd);
	// e_type and e_machine are at the same place in all ELF files.
	if (size != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) || head[EI_CLASS] != ELFCLASS64 ||
	    head[EI_DATA] != ELFDATA2LSB)
		return NULL;
	const int type = head[16] | head[17] << 8;
	const int machine = head[18] | head[19] << 8;
	if (machine == OWN_MACHINE || (type != ET_EXEC && type != ET_DYN))
		return NULL;
	return machine == EM_X86_64    ? "x86_64"
	       : machine == EM_AARCH64 ? "aarch64"
	       : machine == EM_RISCV   ? "riscv64"
				       : NULL;
}

const char *tp_record_foreign(char *const *argv, const char **machine)
{
	for (; *argv; argv++) {
		*machine = foreign_machine(*argv);
		if (*machine)
			return *argv;
	}
	return NULL;
}

static const char *why_secure(const char *path)
{
	struct stat file;
	struct statvfs system;
	char capabilities[64];
	if (stat(path, &file) || statvfs(path, &system) || system.f_flag & ST_NOSUID)
		return NULL;
	if (file.st_mode & S_ISUID && file.st_uid != geteuid())
		return "it is set-user-ID";
	if (file.st_mode & S_ISGID && file.st_mode & S_IXGRP && file.st_gid != getegid())
		return "it is set-group-ID";
	if (geteuid() &&
	    getxattr(path, "security.capability", capabilities, sizeof(capabilities)) > 0)
		return "its file gives it capabilities";
	return NULL;
}

const char *tp_record_secure(const char *program)
{
	char path[PATH_MAX];
	return tp_find_program(program, path) ? why_secure(path) : NULL;
}

// ---- where the trace is written to

static bool is_null_device(const struct stat *info)
{
	return S_ISCHR(info->st_mode) && info->st_rdev == makedev(1, 3);
}

static bool is_open_on(int fd, const struct stat *output)
{
	struct stat info;
	return fstat(fd, &info) == 0 && info.st_dev == output->st_dev &&
	       info.st_ino == output->st_ino;
}

int tp_record_output_check(const char *output, bool starts, bool quiet, bool *away)
{
	struct stat there;
	*away = false;
	if (strcmp(output, "-") == 0)
		return tp_options_usage(
		    "option '--output' takes no '-' here: name /dev/stdout for standard output, or "
		    "'./-' for a file of this name");
	// A file becomes FILE.old, and whoever has it open writes to that; a link's target does
	// not.
	if (lstat(output, &there) || S_ISREG(there.st_mode) || stat(output, &there) ||
	    is_null_device(&there))
		return TP_EXIT_DONE;
	if (is_open_on(STDERR_FILENO, &there))
		return tp_options_usage(
		    "standard error goes to '%s', too, and would damage the trace: redirect it, or "
		    "choose another file",
		    output);
	*away = starts && is_open_on(STDOUT_FILENO, &there);
	if (*away && !quiet)
		tp_command_tell(
		    "the trace goes to standard output, so the program's output goes to standard "
		    "error\n");
	return TP_EXIT_DONE;
}
