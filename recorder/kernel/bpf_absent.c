// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In the place of bpf.c where this is built without libbpf: on targets, or as it or clang was not there.
#include "bpf.h"

int tp_bpf_open(struct tp_bpf *bpf, uint32_t groups, bool follow)
{
	(void)groups;
	(void)follow;
	*bpf = (struct tp_bpf){0};
	tp_buf_init(&bpf->events);
	return tp_err_set(&bpf->refused, TP_ERR_NOT_FOUND, NULL,
	    "this teeperf is built without libbpf: build it where libbpf-dev and clang are installed");
}

void tp_bpf_take(struct tp_bpf *bpf)
{
	(void)bpf;
}

void tp_bpf_add(struct tp_bpf *bpf, struct tp_buf *out)
{
	(void)bpf;
	(void)out;
}

void tp_bpf_close(struct tp_bpf *bpf)
{
	(void)bpf;
}

void tp_bpf_release(struct tp_bpf *bpf)
{
	*bpf = (struct tp_bpf){0};
}
