/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How `teeperf ctl` talks to a running `teeperf record`: one request and one reply over a socket in
 * /dev/shm that only its owner (and root) can open. The folder is the list of recordings.
 *
 * Any user may create files in that folder. So half of a socket's name is random: nobody can be
 * there first. And nothing follows from a name: the kernel says whose a socket is and which process
 * listens.
 */
#ifndef TP_CONTROL_H
#define TP_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include <teeperf/log.h>

#include "common/err.h"
#include "recorder/region/doorbell.h"

#define TP_CONTROL_FOLDER "/dev/shm"

enum { TP_CONTROL_PATH_SIZE = 64 };

/* Behind the name of a socket that does not listen yet. */
#define TP_CONTROL_EARLY ".new"

/*
 * The recorder whose socket says to have this name in the folder ("teeperf-PID.RANDOM.ctl", without
 * RANDOM before version 0.2), 0 if it is none; *early: it does not listen yet.
 */
pid_t tp_control_recorder(const char *name, bool *early);

struct sockaddr_un tp_control_address(const char *path);

enum tp_control_verb {
	TP_CONTROL_STATUS = 1,
	TP_CONTROL_ON,
	TP_CONTROL_OFF,
	TP_CONTROL_FLUSH,
	TP_CONTROL_STOP,
	TP_CONTROL_MARK,
	/* Which functions record: of the words, which are hashes (abi.h), ascending. */
	TP_CONTROL_ONLY, /* them alone, or the rest */
	TP_CONTROL_ADD,
	TP_CONTROL_DROP,
};

/* What became of a request. */
enum tp_control_result {
	TP_CONTROL_DONE = 0,
	TP_CONTROL_LATER,   /* the program obeys when it next asks for a chunk, or polls */
	TP_CONTROL_UNHEARD, /* it got a signal and has not answered */
	TP_CONTROL_WAITING, /* no instrumented program has come yet: it will begin so */
	TP_CONTROL_UNKNOWN, /* no such request */
	TP_CONTROL_FAILED,  /* the trace cannot be written */
	TP_CONTROL_REFUSED, /* `output` says why */
};

/* Either side's first word; it changes with these structures. */
#define TP_CONTROL_VERSION UINT32_C(0x54504303)

struct tp_control_request {
	uint32_t version;
	uint32_t verb; /* enum tp_control_verb */
	/* Of ONLY, ADD and DROP; else 0. */
	uint32_t only; /* enum teeperf_only */
	/* Of these, hashes; of MARK its name, NUL-terminated. */
	/* uint64_t that follow in further messages, TP_CONTROL_HASHES in each but the last */
	uint32_t hash_count;
};
enum { TP_CONTROL_HASHES = 4096, TP_CONTROL_HASHES_MAX = 1 << 20 };
enum { TP_CONTROL_NAME_WORDS = TEEPERF_MARK_NAME / 8 }; /* of MARK, unless it has no name */

struct tp_control_reply {
	uint32_t version;
	uint32_t result;    /* enum tp_control_result */
	uint32_t recorder;  /* process ids */
	uint32_t program;   /* that was started */
	uint32_t attached;  /* that records, 0: none yet */
	uint32_t on;        /* 1: it records */
	uint32_t wanted_on; /* 1: the last command was on */
	uint32_t listens;   /* enum teeperf_listens */
	uint32_t listens_value;
	uint32_t snapshot;   /* 1: `output` is the snapshot that was asked for */
	uint32_t foreign;    /* 1: `attached` is a number of another world */
	uint32_t selections; /* that were asked for */
	uint32_t only;       /* enum teeperf_only: the last one, or what it began with ... */
	uint32_t only_count; /* ... and how many functions that lists */
	uint32_t pending;    /* 1: the program has not obeyed the last selection yet */
	uint32_t reserved;
	uint64_t switches;
	uint64_t records; /* in the trace so far */
	uint64_t lost;
	uint64_t file_bytes;
	uint64_t elapsed_ns;
	char output[256]; /* the trace's path; the tail of a longer one */
};

/*
 * Receive a message: its whole size, of which no more than `room` bytes come; negative: none in
 * time. One that is stopped and continued, or gets a signal, goes on waiting.
 */
int64_t tp_control_receive(int connection, void *bytes, uint64_t room);

/*
 * Send a message with up to TP_CONTROL_FDS descriptors; false, and errno, if it does not go out
 * whole.
 */
enum { TP_CONTROL_FDS = 3 };
bool tp_control_send(int connection, const void *bytes, size_t size, const int *fds, int count);

/*
 * What came over the socket, made safe: SIZE is the whole message's, of which no more than sizeof
 * is at `bytes`. A request of another version is one (it is answered with ours); so is one with an
 * unknown verb.
 * TP_ERR_FORMAT: it is no message of ours; TP_ERR_VERSION: it is a reply of another version's.
 */
int tp_control_request_read(struct tp_control_request *request, const void *bytes, uint64_t size);
/* output is terminated, and has no control characters. `path` is the socket's, for the error. */
int tp_control_reply_read(struct tp_control_reply *reply, const void *bytes, uint64_t size,
    const char *path, struct tp_err *err);

/* The recorder's side: a thread that answers by calling `answer`. */
struct tp_control_server {
	char path[TP_CONTROL_PATH_SIZE];
	int socket;
	struct tp_worker worker;
	/*
	 * Fill all of *reply but version and recorder. May block for a second or so. HASHES are
	 * request->hash_count.
	 */
	void (*answer)(void *context, const struct tp_control_request *request,
	    const uint64_t *hashes, struct tp_control_reply *reply);
	void *context;
};

/* The caller has set answer and context. On success end it with tp_control_server_stop. */
int tp_control_server_start(struct tp_control_server *server, struct tp_err *err);
void tp_control_server_stop(struct tp_control_server *server);

/*
 * The client's side: ask the recording whose recorder or program has process id `pid`, and wait for
 * the reply; after TP_CONTROL_STOP also for the recorder's end. TP_ERR_NOT_FOUND if there is none
 * that is ours, TP_ERR_VERSION if it is another version's.
 */
int tp_control_ask(
    pid_t pid, enum tp_control_verb verb, struct tp_control_reply *reply, struct tp_err *err);
/* The same with a request that has `verb`, and what goes with it. */
int tp_control_ask_with(pid_t pid, const struct tp_control_request *request, const uint64_t *hashes,
    struct tp_control_reply *reply, struct tp_err *err);

#endif
