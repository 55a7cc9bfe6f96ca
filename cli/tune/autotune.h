/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * teeperf autotune: the state of one, which its stages (stages.c, lists.c) fill by builds and runs
 * (measure.c), and its report (report.c) shows.
 */
#ifndef TP_AUTOTUNE_H
#define TP_AUTOTUNE_H

#include "recorder/clock/host_clock.h"
#include "common/err.h"
#include "plan.h"
#include "cli/command/command.h"
#include "allowlists/choose/generate.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <teeperf/trace.h>

/*
 * Builds: made by the user's command, checked, and kept beside the original, so that each can be
 * put in its place for a run. A product is an ELF file that the command makes.
 */
#define TP_AUTOTUNE_PRODUCTS_MAX 16

enum tp_autotune_variant {
	TP_AUTOTUNE_NATIVE = 0,
	TP_AUTOTUNE_COUNT,
	TP_AUTOTUNE_EVENT,
	TP_AUTOTUNE_LIST, /* instrumented by the list that is being tried */
	TP_AUTOTUNE_BEST, /* ... by the best one so far */
	TP_AUTOTUNE_FROM, /* what was there before: a profile that is given is of it */
	TP_AUTOTUNE_VARIANTS,
};

struct tp_autotune_product {
	char path[PATH_MAX];
	struct stat before; /* the build; all zero if it was not there */
};

struct tp_autotune_builder {
	char *const *argv;
	const char *clock; /* TEEPERF_CLOCK for the compiler, NULL: as it is */
	const char *log;   /* file for what the build command prints */
	bool idle;         /* builds take only what others leave of the machine */
	struct tp_autotune_product products[TP_AUTOTUNE_PRODUCTS_MAX];
	uint32_t product_count;
	bool kept[TP_AUTOTUNE_VARIANTS];
	bool any_built;
	enum tp_autotune_variant built;  /* by the last command that succeeded */
	enum tp_autotune_variant placed; /* what the products are now */
	char lists[64]; /* hash of the allowlists of the last build, as its inventory tells */
};

/* The products: files, or with a plain name programs along PATH; they need not be there yet. */
int tp_autotune_builder_init(struct tp_autotune_builder *builder, const char *const *products,
    uint32_t product_count, struct tp_err *err);

/*
 * Run the build command for this variant, with the allowlist LIST (absolute path; NULL: none), see
 * that all has been built anew, and keep a copy. The error says what to do.
 */
int tp_autotune_builder_build(struct tp_autotune_builder *builder, enum tp_autotune_variant variant,
    const char *list, struct tp_err *err);

/* Keep the products as they are, before anything is built, as TP_AUTOTUNE_FROM. */
int tp_autotune_builder_keep_from(struct tp_autotune_builder *builder, struct tp_err *err);

/* Make the products those of a variant that is kept. */
int tp_autotune_builder_place(
    struct tp_autotune_builder *builder, enum tp_autotune_variant variant, struct tp_err *err);

/* The variant LIST is the best one now. */
int tp_autotune_builder_accept(struct tp_autotune_builder *builder, struct tp_err *err);

/* Leave the products as the last build made them, and nothing beside them. */
void tp_autotune_builder_release(struct tp_autotune_builder *builder);

/*
 * Starts build commands, and runs of the program, recorded or not, and measures their times. Each
 * is a process group of its own, which a signal that ends teeperf ends too.
 */
struct tp_autotune_run {
	char *const *argv;
	const char *input;  /* its standard input; NULL: empty */
	const char *output; /* file for its standard output */
	const char *errors; /* file for its standard error; may be the same */
	const char *trace;  /* record into this file; NULL: just run */
	enum tp_clock_choice clock;
	bool compress;
};

struct tp_autotune_ran {
	uint64_t wall_ns;   /* from its start to its end */
	uint64_t cpu_ns;    /* of all its threads, and its children that it waited for */
	uint32_t exit_kind; /* enum teeperf_exit_kind */
	uint32_t exit_value;
	uint64_t output_bytes;
	uint64_t output_hash;
	uint64_t records;
	uint64_t lost;
	uint32_t attach; /* enum teeperf_attach */
};

/* From now on SIGINT, SIGTERM and SIGHUP end what runs, and are remembered. */
void tp_autotune_catch(void);
/* The signal that has come, or 0. */
int tp_autotune_caught(void);

/* 0 if it ran, however it ended; a tp_error if it could not be started or recorded. */
int tp_autotune_run(
    const struct tp_autotune_run *run, struct tp_autotune_ran *ran, struct tp_err *err);

/* A variable of a command's environment; VALUE is NULL to remove it. */
struct tp_autotune_setting {
	const char *name; /* NULL: the end of all */
	const char *value;
};

/*
 * Run a command with its output in the file LOG and the SETTINGS in its environment; `idle`: with
 * the processors and disks that nobody else wants. 0, or an error that names the command and LOG.
 */
int tp_autotune_command(char *const *argv, const struct tp_autotune_setting *settings,
    const char *log, bool idle, struct tp_err *err);

/* ---- the state ---- */

#define TP_AUTOTUNE_LINES_MAX 64

enum tp_autotune_samples {
	TP_AUTOTUNE_AUTO = 0, /* a trace, unless it would be too large and perf works */
	TP_AUTOTUNE_TRACE,
	TP_AUTOTUNE_PERF,
};

struct tp_autotune_options {
	char *const *program;
	const char *input; /* its standard input, or NULL */
	double budget;
	uint64_t log_budget;
	uint32_t runs;
	uint32_t rounds;
	enum tp_clock_choice clock;
	enum tp_autotune_samples samples;
	bool by_cpu; /* time is CPU time, not wall time */
	const char *const *keep;
	uint32_t keep_count;
	const char *const *never;
	uint32_t never_count;
	bool no_sample;
	bool count_rest;
	const char *from; /* trace that has the profile, or NULL */
	const char *work; /* folder for the remains; NULL: none */
	bool verbose;
	bool progress;
};

/* Runs of two builds in turn; times in ns. */
struct tp_autotune_series {
	uint32_t count;
	double native[TP_AUTOTUNE_RUNS_MAX];
	double other[TP_AUTOTUNE_RUNS_MAX];
	double native_cpu[TP_AUTOTUNE_RUNS_MAX];
};

/* How far it is, to be shown. */
struct tp_autotune_progress {
	uint32_t builds; /* that have ended */
	uint32_t most_builds;
	double build_ns; /* that they took */
	uint32_t runs;
	uint32_t most_runs;
	double run_ns;
};

struct tp_autotune_round {
	struct tp_autotune_try tried;
	struct tp_shares shares; /* as they were predicted */
	uint32_t runs;
	double event_ns;  /* a call, as it was predicted */
	double native_ns; /* medians */
	double time_ns;
	uint64_t records;
	uint64_t lost;
	uint32_t events; /* functions */
	uint32_t samples;
	uint32_t counts;
	char *list; /* its text */
	uint64_t list_size;
};

struct tp_autotune {
	struct tp_autotune_options options;
	struct tp_autotune_builder builder;
	char folder[PATH_MAX - 64]; /* for logs, traces and lists */
	char list_path[PATH_MAX];
	/* What the program did in its first run, and so must always do. */
	struct tp_autotune_ran first;
	bool output_varies;
	bool given_times; /* the trace that was given has them, and not only calls */
	struct tp_autotune_progress progress;
	/* What was measured before any list. */
	struct tp_autotune_series alone_series; /* the native program beside a recorder */
	double fixed_ns;                        /* what that takes */
	struct tp_autotune_series count_series; /* none with a profile that is given */
	double native_ns;                       /* medians */
	double native_cpu_ns;
	uint64_t calls;       /* that the count build counted, or the given profile has */
	double count_cost_ns; /* of one call; 0: not known */
	bool by_perf;
	double event_time_ns; /* of the run with events for all; 0: there was none */
	double event_cpu_ns;
	uint32_t event_runs;    /* of which this was the fastest */
	double event_cost_ns;   /* of one call, by the time that counts; 0: not known */
	double profile_cost_ns; /* of one call, to be taken off own times */
	struct tp_autotune_round rounds[TP_AUTOTUNE_ROUNDS_MAX];
	uint32_t round_count;
	uint32_t best;
	enum tp_autotune_step ended;
	struct tp_problems notes;
};

/*
 * All stages up to the choice of the best list, which the program is built with at the end. 0 or a
 * tp_error. Release it in any case; logs are then removed too unless the user is to look at them.
 */
int tp_autotune_all(struct tp_autotune *tune, struct tp_err *err);
void tp_autotune_release(struct tp_autotune *tune, bool keep_logs);

/* Whether the best list can be kept: its cost is known. */
static inline bool tp_autotune_has_best(const struct tp_autotune *tune)
{
	return tune->round_count && !tune->rounds[tune->best].tried.untold;
}
void tp_autotune_report_text(const struct tp_autotune *tune, const char *output);
void tp_autotune_report_json(
    const struct tp_autotune *tune, const char *output, struct tp_buf *out);
/* Calls, own time, size and level of each function, as CSV. */
void tp_autotune_profile_csv(const struct tp_generated *generated, struct tp_buf *out);

/* ---- what the stages share: files, builds, runs; all return 0 or a tp_error ---- */

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

/* "without instrumentation", ... */
extern const char *const tp_autotune_variant_texts[TP_AUTOTUNE_VARIANTS];

/* Build a variant, with the allowlist LIST or NULL. */
int tp_autotune_make(struct tp_autotune *tune, enum tp_autotune_variant variant, const char *list,
    struct tp_err *err);

/* Run the program in a variant, recorded into the file TRACE of the folder unless it is NULL. */
int tp_autotune_run_variant(struct tp_autotune *tune, enum tp_autotune_variant variant,
    const char *trace, bool compress, struct tp_autotune_ran *ran, struct tp_err *err);

/*
 * Native and another variant (or native too), recorded, in turn, until the series has COUNT of
 * each; who begins alternates. *last is the last run of the other one.
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
