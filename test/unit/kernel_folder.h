/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A folder of its own for each test, with files as the kernel has them. Include cmocka.h before. */
#ifndef TP_KERNEL_FOLDER_H
#define TP_KERNEL_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/u_kernel-XXXXXX";

static int make_root(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * A file of TEXT at PATH below the root, whose folders are made. In TEXT '@' is the root. It is
 * written in place, as the kernel's files change under the descriptor that is open.
 */
static void put(const char *path, const char *text)
{
	char whole[1024];
	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	FILE *file = fopen(whole, "w");
	assert_non_null(file);
	for (; *text; text++) {
		if (*text == '@')
			fputs(root, file);
		else
			fputc(*text, file);
	}
	assert_int_equal(fclose(file), 0);
}

#endif
