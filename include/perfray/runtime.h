/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_RUNTIME_H
#define PERFRAY_RUNTIME_H
/*
 * The flight recorder, libperfray-rt: a separate library that is linked into the program to be traced, or preloaded. It
 * writes an XRay trace of every call of functions that were compiled with -finstrument-functions (gcc, clang) or have
 * the sleds of clang's -fxray-instrument, and of the scopes and events of this header.
 *
 *     gcc -finstrument-functions prog.c $(pkg-config --cflags --libs perfray-rt) -o prog
 *     PERFRAY_RT=file=prog.xray ./prog; perfray latency prog.xray
 *
 * A program needs no call to be recorded: PERFRAY_RT in the environment starts the recorder, and so does `perfray
 * trace`. Without either, the recorder does nothing until pfr_rt_start() is called. Use the functions below to record
 * only a part of a run, to save snapshots, and to add your own scopes and events.
 *
 * The trace is a mapped file that is complete at every moment, so nothing is lost if the program crashes or is killed.
 * If the file or the disk is full, recording ends (keep=first) or the oldest calls are overwritten (keep=last), and the
 * program goes on. perfray-rt(7) describes the options of PERFRAY_RT.
 *
 * Cost: a call and its return take 16 bytes in the trace and two reads of the time stamp counter.
 *
 * Threads and signals: all functions may be called from any thread, and all except pfr_rt_start() and pfr_rt_snapshot()
 * from signal handlers. No function changes errno. Threads have buffers of their own; recording a call takes no lock.
 *
 * Errors: failures of the recorder are printed once on standard error, because a traced program does not handle them.
 * The recorder never ends the program.
 *
 * Example, recording only the work, with a scope for a part of a function (examples/recorded.c is complete):
 *
 *     if (pfr_rt_start("file=work.xray size=64M") == 0) {
 *         PFR_RT_SCOPE("work");
 *         pfr_rt_mark("begin");
 *         work();
 *     }
 *     pfr_rt_stop();
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * pfr_rt_start - start recording, or continue it after pfr_rt_stop().
 *
 * `options` has the syntax of PERFRAY_RT: "file=prog.xray size=64M keep=last". NULL: the options of the environment.
 * Only the first successful call uses its options; later calls continue the same trace.
 *
 * Returns 0 if calls are recorded from now on, -1 if not; the reason was printed on standard error. Not for signal
 * handlers. Several threads may call it at the same time.
 */
int pfr_rt_start(const char *options);

/*
 * pfr_rt_stop - stop recording until pfr_rt_start() is called again. Recorded calls remain in the trace.
 *
 * Hooks of -finstrument-functions cost a few nanoseconds per call while recording is stopped. Sleds are patched out.
 */
void pfr_rt_stop(void);

/*
 * pfr_rt_flush - wait until what was recorded is on the disk, as msync(2) does.
 *
 * It is only needed in case the machine crashes: nothing is lost when the process ends, whatever the cause. No effect
 * before recording was started.
 */
void pfr_rt_flush(void);

/*
 * pfr_rt_snapshot - write a copy of the trace, as it is now, to the file `path`. Use it with keep=last to save what led
 * to an unusual event.
 *
 * `path` must not exist; it is created with mode 0600. Recording continues meanwhile: the snapshot contains the calls
 * of each thread up to the moment when its buffer is copied.
 *
 * Returns 0, or -1 if recording was never started or the file cannot be created or written; no file is left then. Not
 * for signal handlers.
 */
int pfr_rt_snapshot(const char *path);

/*
 * pfr_rt_mark - record NUL-terminated text with the current time, as a custom event of the trace. `perfray script`
 * prints it among the calls. Ignored while recording is stopped, and if the text is empty.
 */
void pfr_rt_mark(const char *text);

/*
 * pfr_rt_event - record `size` bytes of the program's own as a custom event.
 *
 * The bytes are copied. `size` must not be 0 and must be less than the size of a buffer (option `buffer`); a larger
 * event is dropped and counted by pfr_rt_lost(). Ignored while recording is stopped.
 */
void pfr_rt_event(const void *bytes, uint32_t size);

/*
 * pfr_rt_typed_event - as pfr_rt_event(), with a number from 0 to 65535 that tells readers how to interpret the bytes.
 * Traces of versions 3 and 4 cannot contain typed events; the recorder then drops and counts them.
 */
void pfr_rt_typed_event(uint16_t type, const void *bytes, uint32_t size);

/*
 * pfr_rt_lost - number of calls and events that could not be recorded since the trace was begun, in all its processes.
 * The causes are a signal handler that interrupted the recorder itself, lack of space, and events that are too large.
 * Calls that options excluded are not counted. 0 before recording was started.
 */
uint64_t pfr_rt_lost(void);

/*
 * A part of a function that is recorded as if it were a function. The struct and its name must remain valid and
 * unchanged until the program ends: declare it static. Its address identifies it.
 */
struct pfr_rt_place {
    /* Name in the trace, NUL-terminated. */
    const char *name;
};

/*
 * pfr_rt_enter, pfr_rt_exit - record the begin and the end of a place. Every pfr_rt_enter() needs one pfr_rt_exit() of
 * the same place in the same thread, properly nested. PFR_RT_SCOPE and perfray::scope do this by themselves.
 */
void pfr_rt_enter(const struct pfr_rt_place *place);
void pfr_rt_exit(const struct pfr_rt_place *place);

/* Private: the cleanup handler of PFR_RT_SCOPE. */
__attribute__((no_instrument_function)) static inline void pfr_rt_leave_(const struct pfr_rt_place *const *place) {
    pfr_rt_exit(*place);
}

/*
 * PFR_RT_SCOPE(text) - record the rest of the enclosing block as a call named `text`, a string literal.
 *
 *     {
 *         PFR_RT_SCOPE("parse");
 *         work();
 *     }
 *
 * The end is recorded however the block is left, except by longjmp(3) or exit(3). Requires the attribute cleanup of gcc
 * and clang. At most one per source line.
 */
#define PFR_RT_JOIN_(a, b) a##b
#define PFR_RT_NAME_(a, b) PFR_RT_JOIN_(a, b)
#define PFR_RT_SCOPE(text)                                                                                             \
    static const struct pfr_rt_place PFR_RT_NAME_(pfr_rt_place_, __LINE__) = {text};                                   \
    __attribute__((cleanup(pfr_rt_leave_), unused)) const struct pfr_rt_place *const PFR_RT_NAME_(pfr_rt_here_,        \
                                                                                                  __LINE__) =          \
        (pfr_rt_enter(&PFR_RT_NAME_(pfr_rt_place_, __LINE__)), &PFR_RT_NAME_(pfr_rt_place_, __LINE__))

#ifdef __cplusplus
}

namespace perfray {
/*
 * perfray::scope - record the lifetime of an object as a call. The end is also recorded if an exception ends the block.
 *
 *     static const pfr_rt_place parse{"parse"};
 *     perfray::scope here(parse);
 *
 * Objects cannot be copied. The place must outlive the object.
 */
class scope {
  public:
    __attribute__((no_instrument_function)) explicit scope(const pfr_rt_place &place) : place_(place) {
        pfr_rt_enter(&place_);
    }
    __attribute__((no_instrument_function)) ~scope() {
        pfr_rt_exit(&place_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

  private:
    const pfr_rt_place &place_;
};
} // namespace perfray
#endif
#endif
