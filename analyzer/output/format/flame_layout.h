/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which frames a flame graph has, and where. The tree is that of each thread; or of all threads
 * together, when it is compared with another trace; or, inverted, functions by self time with their
 * callers above them.
 */
#ifndef TP_FLAME_LAYOUT_H
#define TP_FLAME_LAYOUT_H

#include "analyzer/output/format/export.h"
#include "analyzer/profile/paths.h"

#define TP_FLAME_FRAMES_MAX 16000 /* some 5 MB */
#define TP_FLAME_ROWS_MAX 600     /* deeper frames are left out */
#define TP_FLAME_PROGRAM UINT32_MAX

struct tp_flame_frame {
	const struct tp_function *function; /* NULL: a thread or the program */
	const struct tp_function *leaf;     /* inverted: whose self time it is */
	uint32_t thread; /* index, of a thread's own frame; or TP_FLAME_PROGRAM */
	uint32_t parent; /* below its own index; frame 0 is the whole */
	uint32_t depth;
	uint64_t weight; /* ticks or calls, with all above it */
	uint64_t self;   /* ticks */
	uint64_t calls;
	double start; /* weight to the left of it */
	/* Of the other trace, as if in ticks of this one: with all above, and alone. */
	double before;
	double before_self;
};

struct tp_flame {
	const struct tp_analysis *analysis;
	const struct tp_export_options *options;
	struct tp_flame_frame *frames; /* those that are drawn */
	uint32_t count;
	uint32_t capacity;
	uint32_t rows;
	uint64_t left_out; /* branches too narrow or deep */
	double total;
	double least; /* weight of the narrowest frame */
	double gone;  /* weight of paths that only the other trace has */
	double most;  /* greatest difference of self */
};

/*
 * PIXELS: how wide the picture is. 0 or a negative tp_error; release it in any case. The analysis
 * and the options must outlive it.
 */
int tp_flame_init(struct tp_flame *flame, const struct tp_analysis *analysis,
    const struct tp_export_options *options, double pixels, struct tp_err *err);
void tp_flame_release(struct tp_flame *flame);

/* What a frame weighs of itself. */
static inline double tp_flame_own(const struct tp_flame *flame, const struct tp_flame_frame *frame)
{
	return (double)(flame->options->weight == TP_WEIGHT_CALLS ? frame->calls : frame->self);
}

/*
 * Of an inverted one: add the frames, with their weights, that have at least PART of all; the
 * others are counted. PUSH puts a frame at the end, and gives its number or 0 (no memory). False:
 * no memory.
 */
bool tp_flame_invert(struct tp_flame *flame, double part,
    uint32_t (*push)(struct tp_flame *flame, struct tp_flame_frame frame));

/*
 * The parts that all have in common: CSS, without the characters that have a meaning in XML;
 * JavaScript, for a CDATA section.
 */
extern const char tp_flame_style[];
extern const char tp_flame_script[];

/*
 * ---- The paths of one trace in another one: of the same program at another time, or of another
 * version of it. A path is the same if its functions have the same names; threads are taken
 * together.
 */

struct tp_path_match {
	/*
	 * What each path weighs alone in the other trace: calls, or ticks as if of this trace's
	 * clock.
	 */
	double *self;
	double gone; /* the same of paths that this trace does not have */
};

/*
 * PATHS are those of ANALYSIS, OTHER is the other trace. 0 or a negative tp_error: TP_ERR_NOT_FOUND
 * if the times of the two cannot be compared. Release it in any case.
 */
int tp_path_match_init(struct tp_path_match *match, const struct tp_analysis *analysis,
    const struct tp_paths *paths, const struct tp_analysis *other, enum tp_weight weight,
    struct tp_err *err);
void tp_path_match_release(struct tp_path_match *match);

#endif
