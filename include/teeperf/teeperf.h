/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a program may ask of the profiler that records it. Include it anywhere: in a program that is
 * not built with `teeperf cc`, or that no recorder started, the functions do nothing.
 *
 *   #include <teeperf/teeperf.h>
 *
 *   int main(void)
 *   {
 *           read_input();
 *           teeperf_on();               // teeperf record --on-start off ./program
 *           compute();
 *           teeperf_off();
 *   }
 *
 * All functions may be called in any thread and in signal handlers, and cost nothing to speak of when
 * there is nothing to do. Recording is switched for the whole process. The last wish counts, whether
 * the program's or that of `teeperf ctl`. Calls that are open when recording is switched off end
 * there in the profile; calls that are open when it is switched on are not in it.
 */
#ifndef TEEPERF_TEEPERF_H
#define TEEPERF_TEEPERF_H

#ifdef __cplusplus
extern "C" {
#endif

/* The runtime's; not to be called directly. Weak: not there unless the program is instrumented. */
extern void __teeperf_switch(int on) __attribute__((weak));
extern int __teeperf_is_on(void) __attribute__((weak));
extern void __teeperf_poll(void) __attribute__((weak));
struct teeperf_context {
	unsigned long long reserved[4]; /* the runtime's */
};
extern void __teeperf_context_leave(struct teeperf_context *here) __attribute__((weak));
extern void __teeperf_context_arrive(const struct teeperf_context *here) __attribute__((weak));

/* Never a function of their own, so never in a profile. */
#define TEEPERF_INLINE_ static inline __attribute__((always_inline, unused))

/*
 * Record from here on. Takes effect before it returns, unless another thread is switching at this very
 * moment: then that thread does it.
 */
TEEPERF_INLINE_ void teeperf_on(void)
{
	if (__teeperf_switch)
		__teeperf_switch(1);
}

/* Do not record from here on, in any thread. */
TEEPERF_INLINE_ void teeperf_off(void)
{
	if (__teeperf_switch)
		__teeperf_switch(0);
}

/* Whether events are being recorded: 1 or 0. */
TEEPERF_INLINE_ int teeperf_is_on(void)
{
	return __teeperf_is_on ? __teeperf_is_on() : 0;
}

/*
 * Obey `teeperf ctl` now. A program that is not recorded hears of a command only here, unless it was
 * started with `teeperf record --control`; call it where a command should take effect, as once a frame.
 */
TEEPERF_INLINE_ void teeperf_poll(void)
{
	if (__teeperf_poll)
		__teeperf_poll();
}

/*
 * What the program itself calls a moment, or a stretch of time, of the calling thread: for timelines, and for
 * 'teeperf analyze --time-range mark:NAME'. Names are UTF-8, of at most 64 bytes; the rest of a longer one is cut. A
 * mark costs about as much as some calls, and nothing but a load and a branch where nothing is recorded.
 *
 *   teeperf_mark("loaded");
 *   teeperf_phase_begin("sort");        // phases may be inside of one another
 *   ...
 *   teeperf_phase_end("sort");          // the last one of that name that has begun in this thread
 *
 * In C++, teeperf_phase_scope ends the phase with the block. (They are not called regions, as teeperf_region is about the
 * memory of the log.)
 */
extern unsigned int __teeperf_mark_gate __attribute__((weak)); /* 0: nothing is recorded now */
extern void __teeperf_mark(unsigned int what, const char *name) __attribute__((weak));

/* `what`: log.h, enum teeperf_control. */
TEEPERF_INLINE_ void teeperf_mark_(unsigned int what, const char *name)
{
	if (&__teeperf_mark_gate && __atomic_load_n(&__teeperf_mark_gate, __ATOMIC_RELAXED))
		__teeperf_mark(what, name);
}

TEEPERF_INLINE_ void teeperf_mark(const char *name)
{
	teeperf_mark_(4, name);
}

TEEPERF_INLINE_ void teeperf_phase_begin(const char *name)
{
	teeperf_mark_(15, name);
}

TEEPERF_INLINE_ void teeperf_phase_end(const char *name)
{
	teeperf_mark_(16, name);
}

/*
 * For code that switches stacks by itself: fibers, coroutines, green threads. Each stack then has its own
 * calls and times in the profile. Not needed around calls of swapcontext and others that teeperf-cc(1)
 * lists, which tell by themselves.
 *
 *   struct teeperf_context here;            // of this activation, on the stack that is left
 *   teeperf_leave(&here);
 *   switch_stacks(&from, &to);
 *   teeperf_arrive(&here);                  // where control comes back to this stack
 */
TEEPERF_INLINE_ void teeperf_leave(struct teeperf_context *here)
{
	if (__teeperf_context_leave)
		__teeperf_context_leave(here);
}

TEEPERF_INLINE_ void teeperf_arrive(const struct teeperf_context *here)
{
	if (__teeperf_context_arrive)
		__teeperf_context_arrive(here);
}

/*
 * ---- Where the log is not there when the program begins, and nobody sees when its threads end: in enclaves,
 * trusted applications and other programs without a system below them. docs/platforms/ has an example for each.
 */
extern int __teeperf_region(void *region, unsigned long long size) __attribute__((weak));
extern int __teeperf_enter(void *region, unsigned long long size) __attribute__((weak));
extern void __teeperf_exit(void) __attribute__((weak));
extern const char *__teeperf_why(void) __attribute__((weak));
extern void __teeperf_thread_over(void) __attribute__((weak));
extern void __teeperf_over(int code) __attribute__((weak));

/*
 * Record in the log of `size` bytes at `region`, which the host has made there and which stays there: 1, or 0
 * if it does not lie wholly outside the program's private memory, is no log, belongs to another
 * program, or if there is one already. Call it while only one thread runs, before the code to record. A log that
 * a recorder names in the environment needs no call.
 */
TEEPERF_INLINE_ int teeperf_region(void *region, unsigned long long size)
{
	return __teeperf_region ? __teeperf_region(region, size) : 0;
}

/*
 * The same for a log that is there for the time of a call only, and maybe elsewhere in memory in the next one, as
 * the parameters of a command of OP-TEE are:
 *
 *   int log = teeperf_enter(region, size);
 *   result = command(...);
 *   if (log)
 *           teeperf_leave_region();
 *
 * After it nothing of the program points into the region. Only threads that have entered record, and several may
 * be in the same region at a time. What is called outside is counted as lost.
 */
TEEPERF_INLINE_ int teeperf_enter(void *region, unsigned long long size)
{
	return __teeperf_enter ? __teeperf_enter(region, size) : 0;
}

/* Why the last of these calls returned 0, in words, for a message. 'teeperf record' reports it, too, if the log can hold it. */
TEEPERF_INLINE_ const char *teeperf_why_not(void)
{
	return __teeperf_why ? __teeperf_why() : "it is linked without the runtime of teeperf";
}

TEEPERF_INLINE_ void teeperf_leave_region(void)
{
	if (__teeperf_exit)
		__teeperf_exit();
}

/* The calling thread ends: the host gets the rest of what it has recorded. */
TEEPERF_INLINE_ void teeperf_thread_over(void)
{
	if (__teeperf_thread_over)
		__teeperf_thread_over();
}

/* The program ends, with this exit code: as above, and nothing is recorded any more. */
TEEPERF_INLINE_ void teeperf_over(int code)
{
	if (__teeperf_over)
		__teeperf_over(code);
}

/*
 * ---- Host and TEE in one profile (`teeperf record --tee`): the host program, built with the usual runtime, gets a
 * second log, which it hands to its TEE. docs/platforms/ has an example for each.
 */
extern void *__teeperf_tee_log(unsigned long long *size) __attribute__((weak));
extern void __teeperf_border(unsigned long long what, unsigned long long handle)
    __attribute__((weak));

/* On the host's side: where the TEE's log is in memory, and its size; NULL: there is none. The same each time. */
TEEPERF_INLINE_ void *teeperf_tee_log(unsigned long long *size)
{
	if (__teeperf_tee_log)
		return __teeperf_tee_log(size);
	*size = 0;
	return (void *)0;
}

/*
 * Where a thread goes over the border between the two. Code around calls of the SDKs that teeperf-cc(1) lists tells by
 * itself, and teeperf_enter and teeperf_leave_region tell for the TEE's side.
 *
 *   teeperf_border_call(handle);       // before a call to the other side, by whoever calls, in the host or in the TEE
 *   result = call(parameters);
 *   teeperf_border_back();             // behind it
 *
 *   teeperf_border_begin(handle);      // on the other side, first
 *   ...
 *   teeperf_border_end();              // and last
 *
 * By the handle it is known which call is which, where several threads call at once: any number that both sides have
 * and that no other call has which is in progress at that time, such as the address of the parameters. 0: there is
 * none. teeperf_border_handle tells one for a call that has begun by teeperf_enter. Calls of TEEC_InvokeCommand that are
 * given the whole log of teeperf_tee_log need none: how much of it they give tells which is which.
 */
TEEPERF_INLINE_ void teeperf_border_call(unsigned long long handle)
{
	if (__teeperf_border)
		__teeperf_border(9, handle); /* log.h, enum teeperf_control */
}

TEEPERF_INLINE_ void teeperf_border_begin(unsigned long long handle)
{
	if (__teeperf_border)
		__teeperf_border(10, handle);
}

TEEPERF_INLINE_ void teeperf_border_end(void)
{
	if (__teeperf_border)
		__teeperf_border(11, 0);
}

TEEPERF_INLINE_ void teeperf_border_back(void)
{
	if (__teeperf_border)
		__teeperf_border(12, 0);
}

TEEPERF_INLINE_ void teeperf_border_handle(unsigned long long handle)
{
	if (__teeperf_border)
		__teeperf_border(13, handle);
}

/*
 * ---- Modules that a loader of the program's own has mapped, of which neither the system nor the TEE can tell. Tell of one
 * when it is mapped and relocated, before its constructors run (they must run), and take it back before its memory goes;
 * until then struct, headers and path stay as they are. One module at a time, also beside dlopen and dlclose.
 */
struct teeperf_loaded {
	unsigned long long bias;   /* address at run time less the address in the file */
	const void *headers;       /* the program headers of ELF-64, in memory */
	unsigned int header_count; /* how many */
	const char *path; /* absolute; NULL: the file is found by its build ID, or by its code */
	struct teeperf_loaded *next; /* the runtime's */
};
extern int __teeperf_module_add(struct teeperf_loaded *loaded) __attribute__((weak));
extern void __teeperf_module_remove(struct teeperf_loaded *loaded) __attribute__((weak));

/* 1, or 0 if there is nothing to load in the headers, or it was reported before. */
TEEPERF_INLINE_ int teeperf_module_add(struct teeperf_loaded *loaded)
{
	return __teeperf_module_add ? __teeperf_module_add(loaded) : 0;
}

/* Its code does not run any more. If its destructors have not run, they must not. */
TEEPERF_INLINE_ void teeperf_module_remove(struct teeperf_loaded *loaded)
{
	if (__teeperf_module_remove)
		__teeperf_module_remove(loaded);
}

#undef TEEPERF_INLINE_

#ifdef __cplusplus
}

/* A phase as long as the block that it is declared in: teeperf_phase_scope phase("sort"); NAME outlives it. */
class teeperf_phase_scope
{
      public:
	__attribute__((always_inline)) explicit teeperf_phase_scope(const char *name) : name_(name)
	{
		teeperf_phase_begin(name_);
	}
	__attribute__((always_inline)) ~teeperf_phase_scope()
	{
		teeperf_phase_end(name_);
	}
	teeperf_phase_scope(const teeperf_phase_scope &) = delete;
	teeperf_phase_scope &operator=(const teeperf_phase_scope &) = delete;

      private:
	const char *name_;
};
#endif

#endif
