/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For the host program of an enclave, on Linux, in C and C++: the log that it passes to the
 * enclave. Nothing needs to be linked. With the EDL's file teeperf.edl:
 *
 *   unsigned long long size;
 *   void *log = teeperf_host_log(&size);
 *   int taken = 0;
 *   if (log)
 *           teeperf_ecall_log(enclave, &taken, log, size);     // 1: the enclave is recorded
 */
#ifndef TEEPERF_HOST_H
#define TEEPERF_HOST_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <teeperf/teeperf.h>

/*
 * The address and size of the log, which stays for the rest of the process's life; NULL: the
 * program is not being recorded, or the log cannot be mapped. In a program that was linked with
 * 'teeperf cc' it is the TEE's own log (`teeperf record --tee`), else the one that the environment
 * names (`teeperf record`).
 */
static inline void *teeperf_host_log(unsigned long long *size)
{
	const char *path = getenv("TEEPERF_LOG");
	struct stat status;
	*size = 0;
	if (__teeperf_tee_log)
		return __teeperf_tee_log(size);
	const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	void *log = MAP_FAILED;
	if (!fstat(fd, &status))
		log = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (log == MAP_FAILED)
		return NULL;
	*size = (unsigned long long)status.st_size;
	return log;
}

#endif
