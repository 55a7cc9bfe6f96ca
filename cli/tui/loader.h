/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads traces on a thread of its own, so that keys are answered meanwhile. It does one thing at a
 * time, and what it has done is taken before it does the next one.
 */
#ifndef TP_TUI_LOADER_H
#define TP_TUI_LOADER_H

#include "calls.h"
#include "data.h"

#include "cli/analyze/growing.h"

#include <pthread.h>

/* A look at the trace. */
struct tp_tui_loaded {
	struct tp_tui_data data;
	struct tp_open_trace open;
	struct tp_buf more; /* records that are not in the file yet */
	bool recording;     /* it will be more */
	bool gone;          /* its recorder was killed */
	bool is_last;       /* data is of what came since the look before */
};

enum tp_tui_job { TP_TUI_IDLE = 0, TP_TUI_LOOK, TP_TUI_READ_CALLS, TP_TUI_READ_CALL };

struct tp_tui_loader {
	struct tp_open_options options;
	struct tp_growing growing;
	bool follow; /* how it looks: with records that are not in the file yet */
	bool last;   /* ... and at what came since the look before */
	/* What it is to do, or does; set by tp_tui_loader_look, _calls and _call only. */
	enum tp_tui_job job;
	const struct tp_analysis *analysis;
	uint32_t function;
	struct tp_kept_call outer;
	uint32_t ticket;
	struct tp_tui_reading reading;
	int fd; /* is readable when there is something to be taken */
	/* The rest is its own. */
	int end; /* of the pipe */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake;
	bool started;
	bool quit;
	bool done;
	struct tp_tui_loaded *early; /* functions are there, the call tree is being made */
	struct tp_tui_loaded *loaded;
	struct tp_tui_calls calls;
	int status; /* an exit code */
	struct tp_err err;
};

/* What has come of a job. */
struct tp_tui_result {
	enum tp_tui_job job;          /* TP_TUI_IDLE: nothing new */
	bool early;                   /* of a look: its call tree is still being made */
	struct tp_tui_loaded *loaded; /* the taker's: tp_tui_loaded_free */
	struct tp_tui_calls calls;    /* the taker's */
	uint32_t ticket;
	int status; /* an exit code; with TP_EXIT_FAILED *err says why */
	struct tp_err err;
};

/*
 * WHAT and OPTIONS as for tp_growing_init and tp_open_trace. 0 or TP_ERR_SYSTEM; end it in any
 * case.
 */
int tp_tui_loader_start(struct tp_tui_loader *loader, const char *what,
    const struct tp_open_options *options, struct tp_err *err);
/*
 * False: it reads the trace, and cannot be stopped, so that nothing must be freed. True: `loaded`
 * is the caller's.
 */
bool tp_tui_loader_end(struct tp_tui_loader *loader);

/* Whether it does something, or has something that was not taken. */
bool tp_tui_loader_busy(const struct tp_tui_loader *loader);
/* pre: it is not busy. The arguments must outlive the job. */
void tp_tui_loader_look(struct tp_tui_loader *loader);
void tp_tui_loader_calls(struct tp_tui_loader *loader, const struct tp_analysis *analysis,
    uint32_t function, uint32_t ticket);
void tp_tui_loader_call(struct tp_tui_loader *loader, const struct tp_analysis *analysis,
    const struct tp_kept_call *outer, uint32_t ticket);
struct tp_tui_result tp_tui_loader_take(struct tp_tui_loader *loader);
void tp_tui_loaded_free(struct tp_tui_loaded *loaded);

#endif
