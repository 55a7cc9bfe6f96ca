/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the stages of teeperf autotune share: files, builds, runs. All return 0 or a tp_error. */
#ifndef TP_AUTOTUNE_STAGES_H
#define TP_AUTOTUNE_STAGES_H

#include "autotune.h"

struct tp_autotune_path {
	char text[PATH_MAX];
};

/* The file NAME in the folder for logs and traces. */
struct tp_autotune_path tp_autotune_file(const struct tp_autotune *tune, const char *name);
int tp_autotune_write_file(const char *path, const struct tp_buf *text, struct tp_err *err);

/* A line of progress, for who wants to see it. */
void tp_autotune_say(const struct tp_autotune *tune, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Say how many builds and runs there may be. */
void tp_autotune_plan_progress(struct tp_autotune *tune);
/* " (build 2 of at most 8; at most 3 min left)", of the one that begins. Returns TEXT. */
enum { TP_AUTOTUNE_PROGRESS_TEXT = 96 };
char *tp_autotune_progress_text(
    const struct tp_autotune *tune, char text[TP_AUTOTUNE_PROGRESS_TEXT]);

/* "without instrumentation", ... */
extern const char *const tp_autotune_variant_texts[TP_AUTOTUNE_VARIANTS];

/* Build a variant, with the allowlist LIST or NULL. */
int tp_autotune_make(struct tp_autotune *tune, enum tp_autotune_variant variant, const char *list,
    struct tp_err *err);

/* Run the program in a variant, recorded into the file TRACE of the folder unless it is NULL. */
int tp_autotune_run_variant(struct tp_autotune *tune, enum tp_autotune_variant variant,
    const char *trace, bool compress, struct tp_autotune_ran *ran, struct tp_err *err);

/*
 * Native and another variant (or native too), recorded, in turn, until the series has COUNT of each; who
 * begins alternates. *last is the last run of the other one.
 */
int tp_autotune_run_series(struct tp_autotune *tune, enum tp_autotune_variant variant,
    const char *trace, uint32_t count, struct tp_autotune_series *series,
    struct tp_autotune_ran *last, struct tp_err *err);

/* The time of a run that counts, in ns. */
double tp_autotune_time(const struct tp_autotune *tune, const struct tp_autotune_ran *ran);

/* The program did what it did in the first run. WHICH is a variant's text. */
int tp_autotune_check_same(struct tp_autotune *tune, const struct tp_autotune_ran *ran,
    const char *which, struct tp_err *err);
/* It was recorded. */
int tp_autotune_attached(
    const struct tp_autotune *tune, const struct tp_autotune_ran *ran, struct tp_err *err);
/* "ended with exit status 3"; returns TEXT. */
const char *tp_autotune_end_text(const struct tp_autotune_ran *ran, char *text, size_t size);
/* The error that the program did WHAT. */
int tp_autotune_fail_of_run(const struct tp_autotune *tune, const char *what, struct tp_err *err);

/* Choose, build and measure lists until one is good enough or there are no more rounds. */
int tp_autotune_try_lists(struct tp_autotune *tune, struct tp_err *err);

#endif
