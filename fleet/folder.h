/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The folder of a fleet (docs/fleet.md): runs come in, small files become large ones, old runs go.
 * Readers take no lock: what they may see at any moment is whole.
 *
 * A file is written in a folder whose name begins with a dot, synced, and renamed to its place. A
 * run's manifest is written last, and taken away last. Files of one table, day and program are
 * replaced together: the folder that has them is exchanged (renameat2) for one that was made beside
 * it.
 */
#ifndef TP_FLEET_FOLDER_H
#define TP_FLEET_FOLDER_H

#include "fleet/run.h"
#include "analyzer/output/format/parquet_read.h"

#include <string.h>

struct tp_fleet_added {
	char id[TP_FLEET_RUN_ID];
	bool already; /* it was there: nothing was written */
	uint64_t rows[TP_FLEET_TABLES];
	uint64_t bytes[TP_FLEET_TABLES];
};

/* Add the run to DIRECTORY, which is made if it is not there. 0 or a negative tp_error. */
int tp_fleet_add_run(const char *directory, const struct tp_analysis *analysis,
    const struct tp_fleet_said *said, struct tp_fleet_added *added, struct tp_err *err);

/* What has become of the files that were touched. */
struct tp_fleet_rewritten {
	uint64_t runs; /* that were taken out */
	uint64_t files_before;
	uint64_t files_after;
	uint64_t bytes_before;
	uint64_t bytes_after;
};

/* Make large files of small ones. 0 or a negative tp_error: what was done until then is done. */
int tp_fleet_compact_all(
    const char *directory, struct tp_fleet_rewritten *rewritten, struct tp_err *err);

struct tp_fleet_old {
	bool by_age;
	uint64_t before_unix_s; /* by_age: runs that began before */
	bool by_count;
	uint64_t keep; /* by_count: of each program all but the newest of them */
	bool dry_run;  /* take nothing out */
	/* Called for each run that goes; may be NULL. */
	void (*each)(void *context, const char *id, const char *program);
	void *context;
};

/* Take old runs out. As tp_fleet_compact. */
int tp_fleet_expire_runs(const char *directory, const struct tp_fleet_old *old,
    struct tp_fleet_rewritten *rewritten, struct tp_err *err);

/* ---- shared by the files of this */

enum { TP_FLEET_PATH = 4096, TP_FLEET_NAME = 200 };

/* What Hive cannot have in the name of a folder as %XX; at most TP_FLEET_NAME bytes. */
void tp_fleet_encode(char out[TP_FLEET_NAME], const char *name);
/* NAME as it was before. */
void tp_fleet_decode(char out[TP_FLEET_NAME], const char *name);
/* PATH made of pieces. TP_ERR_LIMIT: it is too long. */
int tp_fleet_path(char path[TP_FLEET_PATH], struct tp_err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Make the folder PATH and those that it is in, below DIRECTORY's length. 0 or TP_ERR_SYSTEM. */
int tp_fleet_make_folders(const char *path, struct tp_err *err);
/*
 * A folder of a new name in DIRECTORY, which begins with a dot and WHAT. *lock says to
 * tp_fleet_clean that it is in use, until it is closed; -1: there is none.
 */
int tp_fleet_stage(char path[TP_FLEET_PATH], int *lock, const char *directory, const char *what,
    struct tp_err *err);
/* Remove a folder with all that is in it; what cannot be removed stays. */
void tp_fleet_remove(const char *path);
/*
 * Remove the stages that were left in the folder by those that were killed more than ten minutes
 * ago; without file locks, a day ago.
 */
void tp_fleet_clean(const char *directory);
/* Have what was written to the file or folder PATH on the disk. 0 or TP_ERR_SYSTEM. */
int tp_fleet_sync(const char *path, struct tp_err *err);
/* Wait for whoever changes the folder; -1: file locks do not work there. Close it. */
int tp_fleet_lock(const char *directory);
/* Whether DIRECTORY is a fleet. TP_ERR_NOT_FOUND. */
int tp_fleet_check(const char *directory, struct tp_err *err);

/* Whether a file of this `run` has rows of many runs, and not of the run of that id. */
static inline bool tp_fleet_is_of_many(const char *run)
{
	return strncmp(run, "compact-", strlen("compact-")) == 0;
}

/* Manifests are in DIRECTORY/manifest/KIND=NAME. */
#define TP_FLEET_OF_PROGRAMS "program"       /* runs of a program */
#define TP_FLEET_OF_EXPERIMENTS "experiment" /* results of a task of experiments */
static inline const char *tp_fleet_kind(const struct tp_fleet_table *table)
{
	return table == &tp_fleet_tables[TP_FLEET_EXPERIMENTS] ? TP_FLEET_OF_EXPERIMENTS
							       : TP_FLEET_OF_PROGRAMS;
}
/* Whether the run is complete there. PROGRAM is encoded. */
bool tp_fleet_has_run(const char *directory, const char *kind, const char *program, const char *id);

/* Something that comes in: files in a folder of their own, put in their places together. */
struct tp_fleet_adding {
	const char *directory;
	const char *kind;             /* TP_FLEET_OF_PROGRAMS, ... */
	const char *name;             /* of the program or task */
	struct tp_fleet_added *added; /* whose id is set */
	char day[TP_FLEET_DAY];
	/* Its own. */
	char program[TP_FLEET_NAME]; /* the name, encoded */
	char stage[TP_FLEET_PATH];   /* where the files are written */
	int stage_lock;              /* of tp_fleet_stage */
	bool has[TP_FLEET_TABLES];
};

/* Make the folders, unless added->already. 0 or a negative tp_error; end it in any case. */
int tp_fleet_adding_begin(struct tp_fleet_adding *adding, struct tp_err *err);
/* The file of a table is in the stage, with this number of rows. */
int tp_fleet_adding_file(
    struct tp_fleet_adding *adding, enum tp_fleet_table_id id, uint64_t rows, struct tp_err *err);
/* Put all files in their places, unless somebody has done so meanwhile: added->already. */
int tp_fleet_adding_publish(struct tp_fleet_adding *adding, struct tp_err *err);
void tp_fleet_adding_end(const struct tp_fleet_adding *adding);

/* Names in a folder that begin with PREFIX, sorted. */
struct tp_fleet_names {
	char **items;
	uint32_t count;
	uint32_t room;
};
/* 0, also without such a folder; TP_ERR_SYSTEM, TP_ERR_MEMORY. Release it in any case. */
int tp_fleet_names_read(
    struct tp_fleet_names *names, const char *folder, const char *prefix, struct tp_err *err);
void tp_fleet_names_release(struct tp_fleet_names *names);
/* False: no memory. */
bool tp_fleet_names_add(struct tp_fleet_names *names, const char *name);
void tp_fleet_names_sort(struct tp_fleet_names *names);
/* Its number; `count` if it is not there. pre: they are sorted. */
uint32_t tp_fleet_names_find(const struct tp_fleet_names *names, const char *name);
bool tp_fleet_names_have(const struct tp_fleet_names *names, const char *name);

typedef int tp_fleet_take_file(void *context, const char *path, struct tp_err *err);
/*
 * TAKE each Parquet file of a folder, by name, until one fails. 0 or a negative tp_error; *GONE:
 * since another command exchanges the files meanwhile, so that all are to be taken anew.
 */
int tp_fleet_each_file(
    const char *folder, tp_fleet_take_file *take, void *context, bool *gone, struct tp_err *err);

/* ---- rewrite.c */

/*
 * Whether a file is one of TABLE, of a version that this program knows. TP_ERR_FORMAT,
 * TP_ERR_VERSION.
 */
int tp_fleet_check_file(
    const struct tp_parquet_reader *reader, const struct tp_fleet_table *table, struct tp_err *err);

/* The folder of a table, day and program. */
struct tp_fleet_place {
	const char *directory;
	const struct tp_fleet_table *table;
	const char *day;     /* "day=..." */
	const char *program; /* "program=..." */
};

/*
 * Make large files of the small ones there, without the runs whose ids are in DROPPED (sorted by
 * strcmp). If there is nothing to gain and to drop, nothing changes. 0 or a negative tp_error.
 */
int tp_fleet_rewrite(const struct tp_fleet_place *place, const struct tp_fleet_names *dropped,
    struct tp_fleet_rewritten *rewritten, struct tp_err *err);

#endif
