/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BENCH_RUNTIME_CALLS_H
#define PFR_BENCH_RUNTIME_CALLS_H
/* PLAIN functions are never traced; those of which the calls are counted by themselves are never inlined (TRACED). */

#ifdef __clang__
#define PLAIN __attribute__((no_instrument_function, xray_never_instrument))
#else
#define PLAIN __attribute__((no_instrument_function))
#endif
#define TRACED __attribute__((noinline))

/* Evaluates the same text from the begin: runtime_lisp.c. */
long run_lisp(void);

#endif
