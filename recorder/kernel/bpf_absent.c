// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In the place of bpf.c where this is built without libbpf: on targets, or as it or clang was not
// there.
#include "bpf.h"

int tp_bpf_open(struct tp_bpf *bpf, uint32_t groups, enum tp_bpf_whose whose)
{
	(void)groups;
	(void)whose;
	*bpf = (struct tp_bpf){0};
	return tp_err_set(&bpf->refused, TP_ERR_NOT_FOUND, NULL,
	    "this teeperf was built without libbpf: rebuild it with libbpf-dev and clang "
	    "installed");
}

int tp_bpf_join(struct tp_bpf *bpf, pid_t pid)
{
	(void)pid;
	return bpf->refused.code;
}

void tp_bpf_take(struct tp_bpf *bpf)
{
	(void)bpf;
}

void tp_bpf_close(struct tp_bpf *bpf)
{
	(void)bpf;
}

void tp_bpf_release(struct tp_bpf *bpf)
{
	(void)bpf;
}

void tp_bpf_reader_init(struct tp_bpf_reader *reader, struct tp_bpf *bpf, uint32_t process)
{
	(void)bpf;
	*reader = (struct tp_bpf_reader){.process = process};
}

void tp_bpf_reader_release(struct tp_bpf_reader *reader)
{
	(void)reader;
}

void tp_bpf_reader_lose(struct tp_bpf_reader *reader, uint64_t count)
{
	(void)reader;
	(void)count;
}

size_t tp_bpf_reader_bytes(const struct tp_bpf_reader *reader)
{
	(void)reader;
	return 0;
}

void tp_bpf_reader_add(struct tp_bpf_reader *reader, struct tp_buf *out)
{
	(void)reader;
	(void)out;
}
