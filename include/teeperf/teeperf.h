/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions by which a program controls its recording. Include it anywhere: in a program that is
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
 * All functions may be called in any thread and in signal handlers, and cost almost nothing when
 * there is nothing to do. Recording is switched for the whole process. The last command counts,
 * whether from the program or from `teeperf ctl`. In the profile, calls that are open when
 * recording is switched off end there; calls that are open when it is switched on are missing.
 */
#ifndef TEEPERF_TEEPERF_H
#define TEEPERF_TEEPERF_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Part of the runtime: do not call them directly. Weak: they exist only in an instrumented program.
 */
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
 * Record from here on. Takes effect before it returns, unless another thread is switching at the
 * same time: then that thread does it.
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
 * Obey `teeperf ctl` now. While a program is not recorded, it checks for commands only here, unless
 * it was started with `teeperf record --control`. Call it where a command should take effect, such
 * as once per frame.
 */
TEEPERF_INLINE_ void teeperf_poll(void)
{
	if (__teeperf_poll)
		__teeperf_poll();
}

/*
 * Name a moment, or a stretch of time, of the calling thread: for timelines, and for 'teeperf
 * analyze --time-range mark:NAME'. Names are UTF-8, and cut after 64 bytes. A mark costs about as
 * much as a few calls, and only a load and a branch while nothing is recorded.
 *
 *   teeperf_mark("loaded");
 *   teeperf_phase_begin("sort");        // phases can be nested
 *   ...
 *   teeperf_phase_end("sort");          // the last phase of that name that began in this thread
 *
 * In C++, teeperf_phase_scope ends the phase with the block. (They are not called regions, because
 * teeperf_region means the memory of the log.)
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
 * For code that switches stacks itself: fibers, coroutines, green threads. Each stack then has its
 * own calls and times in the profile. Not needed around calls of swapcontext and the other
 * functions listed in teeperf-cc(1): the compiler reports these.
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
 * ---- For programs whose log does not exist yet when they start, and whose threads' ends cannot be
 * observed: enclaves, trusted applications and other programs without an operating system.
 * docs/platforms/ has an example for each.
 */
extern int __teeperf_region(void *region, unsigned long long size) __attribute__((weak));
extern int __teeperf_enter(void *region, unsigned long long size) __attribute__((weak));
extern void __teeperf_exit(void) __attribute__((weak));
extern const char *__teeperf_why(void) __attribute__((weak));
extern void __teeperf_thread_over(void) __attribute__((weak));
extern void __teeperf_over(int code) __attribute__((weak));

/*
 * Record in the log of `size` bytes at `region`, which the host has created and which stays at that
 * address. Returns 1; or 0 if any of it is in the program's private memory, if it is not a log or
 * is used by another program, or if the program already has a log. Call it while only one thread
 * runs, before the code to record. A log that a recorder names in the environment needs no call.
 */
TEEPERF_INLINE_ int teeperf_region(void *region, unsigned long long size)
{
	return __teeperf_region ? __teeperf_region(region, size) : 0;
}

/*
 * The same for a log that is mapped only during a call, and possibly at another address in the next
 * one, like the parameters of an OP-TEE command:
 *
 *   int log = teeperf_enter(region, size);
 *   result = command(...);
 *   if (log)
 *           teeperf_leave_region();
 *
 * After teeperf_leave_region the program has no pointer into the region. Only threads that have
 * entered record, and several can be in the same region at a time. Calls outside are counted as
 * lost.
 */
TEEPERF_INLINE_ int teeperf_enter(void *region, unsigned long long size)
{
	return __teeperf_enter ? __teeperf_enter(region, size) : 0;
}

/*
 * Why the last of these calls returned 0, as text for a message. 'teeperf record' also reports it,
 * if the log can hold it.
 */
TEEPERF_INLINE_ const char *teeperf_why_not(void)
{
	return __teeperf_why ? __teeperf_why() : "it is linked without the runtime of teeperf";
}

TEEPERF_INLINE_ void teeperf_leave_region(void)
{
	if (__teeperf_exit)
		__teeperf_exit();
}

/* The calling thread ends: the host gets the rest of its records. */
TEEPERF_INLINE_ void teeperf_thread_over(void)
{
	if (__teeperf_thread_over)
		__teeperf_thread_over();
}

/* The program ends with this exit code: as above, and recording stops. */
TEEPERF_INLINE_ void teeperf_over(int code)
{
	if (__teeperf_over)
		__teeperf_over(code);
}

/*
 * ---- Host and TEE in one profile (`teeperf record --tee`): the host program, built with the usual
 * runtime, gets a second log and passes it to its TEE. docs/platforms/ has an example for each.
 */
extern void *__teeperf_tee_log(unsigned long long *size) __attribute__((weak));
extern void __teeperf_border(unsigned long long what, unsigned long long handle)
    __attribute__((weak));

/*
 * On the host's side: the address and size of the TEE's log, NULL if there is none. Always the
 * same.
 */
TEEPERF_INLINE_ void *teeperf_tee_log(unsigned long long *size)
{
	if (__teeperf_tee_log)
		return __teeperf_tee_log(size);
	*size = 0;
	return (void *)0;
}

/*
 * Where a thread crosses the border between the two. Not needed around calls of the SDKs that
 * teeperf-cc(1) lists, which the compiler reports, nor where teeperf_enter and teeperf_leave_region
 * do so on the TEE's side.
 *
 *   // before a call to the other side, in the caller, whether host or TEE
 *   teeperf_border_call(handle);
 *   result = call(parameters);
 *   teeperf_border_back();             // after it
 *
 *   teeperf_border_begin(handle);      // on the other side, first
 *   ...
 *   teeperf_border_end();              // and last
 *
 * The handle matches the two sides of a call when several threads call at once: any number that
 * both sides know and that no other call in progress has, such as the address of the parameters. 0:
 * no handle. teeperf_border_handle sets the handle of a call that began with teeperf_enter. Calls
 * of TEEC_InvokeCommand that get the whole log of teeperf_tee_log need none: the size that they
 * pass identifies the call.
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
 * ---- Modules mapped by the program's own loader, which neither the system nor the TEE can report.
 * Add a module when it is mapped and relocated, before its constructors run (they must run), and
 * remove it before its memory is unmapped; until then struct, headers and path must not change. One
 * module at a time, and not during dlopen or dlclose.
 */
struct teeperf_loaded {
	unsigned long long bias;   /* address at run time less the address in the file */
	const void *headers;       /* the program headers of ELF-64, in memory */
	unsigned int header_count; /* their number */
	const char *path; /* absolute; NULL: the file is found by its build ID, or by its code */
	struct teeperf_loaded *next; /* the runtime's */
};
extern int __teeperf_module_add(struct teeperf_loaded *loaded) __attribute__((weak));
extern void __teeperf_module_remove(struct teeperf_loaded *loaded) __attribute__((weak));

/* 1, or 0 if the headers load nothing, or the module was added before. */
TEEPERF_INLINE_ int teeperf_module_add(struct teeperf_loaded *loaded)
{
	return __teeperf_module_add ? __teeperf_module_add(loaded) : 0;
}

/* Its code no longer runs. If its destructors have not run, they must not run later. */
TEEPERF_INLINE_ void teeperf_module_remove(struct teeperf_loaded *loaded)
{
	if (__teeperf_module_remove)
		__teeperf_module_remove(loaded);
}

#undef TEEPERF_INLINE_

#ifdef __cplusplus
}

/*
 * A phase that lasts as long as the enclosing block: teeperf_phase_scope phase("sort"); NAME must
 * outlive it.
 */
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
