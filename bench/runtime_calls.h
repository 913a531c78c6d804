/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BENCH_RUNTIME_CALLS_H
#define PFR_BENCH_RUNTIME_CALLS_H
/* PLAIN functions are never traced. Functions whose calls are counted (TRACED) are never inlined. */

#ifdef __clang__
#define PLAIN __attribute__((no_instrument_function, xray_never_instrument))
#else
#define PLAIN __attribute__((no_instrument_function))
#endif
#define TRACED __attribute__((noinline))

/* runtime_lisp.c: evaluates the same text from the beginning. */
long run_lisp(void);

#endif
