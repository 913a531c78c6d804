/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_RUNTIME_H
#define PERFRAY_RUNTIME_H
/*
 * The flight recorder, libperfray-rt: a library of its own, linked into the program that is to be traced. It records
 * each call of functions that were compiled with -finstrument-functions (gcc, clang) or have the sleds of clang's
 * -fxray-instrument, and what the program asks for below. It needs no call to do so: PERFRAY_RT in the environment
 * starts it, and so does `perfray trace`.
 *
 *     gcc -finstrument-functions prog.c $(pkg-config --cflags --libs perfray-rt) -o prog
 *     PERFRAY_RT=file=prog.xray ./prog; perfray latency prog.xray
 *
 * The trace is in the file at every moment: a program that crashes or is killed loses nothing of it. perfray-rt(7) has
 * the options. All functions may be called from any thread, and none of them changes errno; from a signal handler all
 * but pfr_rt_start and pfr_rt_snapshot.
 */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts recording as these options say (those of PERFRAY_RT; NULL: those of the environment), or goes on after
 * pfr_rt_stop, when they do not count. 0: calls are recorded from now on; -1: they cannot be, which was said on
 * standard error. */
int pfr_rt_start(const char *options);

/* Calls are not recorded from now on; each still costs a few nanoseconds, and one with sleds nothing. What was recorded
 * stays in the trace. */
void pfr_rt_stop(void);

/* What was recorded up to now is handed to the disk; without it that is up to the kernel, and no process that ends
 * loses anything. */
void pfr_rt_flush(void);

/* Writes a trace of what is in the buffers now to another file, which must not be there. Recording goes on meanwhile:
 * of a thread that is writing the snapshot has what it had written when its buffer's turn came. 0: done; -1: not. */
int pfr_rt_snapshot(const char *path);

/* A line of text at this moment, as a custom event. */
void pfr_rt_mark(const char *text);

/* A custom event, or one of a type from 0 to 65535, of `size` bytes, which is more than 0 and below the buffer's. */
void pfr_rt_event(const void *bytes, uint32_t size);
void pfr_rt_typed_event(uint16_t type, const void *bytes, uint32_t size);

/* Calls and events that were not recorded since the trace was begun, in all its processes: what a signal handler did
 * inside a hook, and what found no room. */
uint64_t pfr_rt_lost(void);

/* A part of a function that is recorded as a call of its own. The struct must live as long as the program. */
struct pfr_rt_place {
    const char *name;
};
void pfr_rt_enter(const struct pfr_rt_place *place);
void pfr_rt_exit(const struct pfr_rt_place *place);

__attribute__((no_instrument_function)) static inline void pfr_rt_leave_(const struct pfr_rt_place *const *place) {
    pfr_rt_exit(*place);
}

/* PFR_RT_SCOPE("parse"): from here to the end of the block; the name is a constant. */
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
/* static const pfr_rt_place parse{"parse"}; perfray::scope here(parse); */
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
