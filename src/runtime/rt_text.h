/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_TEXT_H
#define PFR_RUNTIME_RT_TEXT_H
/*
 * Bytes and names, seen from within somebody's function call: what would otherwise be calls of the C library that may
 * use vector registers. Of any machine: the command shows names as the recorder's patterns see them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RT_PLAIN __attribute__((no_instrument_function))
#define RT_RARE RT_PLAIN __attribute__((noinline, cold))

/* Both without a call: what they replace may use registers that the program's call at hand has in use. */
RT_PLAIN static inline void rt_zero(void *to, size_t size) {
#if defined __x86_64__
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(0) : "memory");
#else
    for (volatile uint8_t *at = to; size--; at++)
        *at = 0;
#endif
}

RT_PLAIN static inline void rt_copy(void *to, const void *from, size_t size) {
#if defined __x86_64__
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
    volatile uint8_t *at = to;
    for (const uint8_t *f = from; size--;)
        *at++ = *f++;
#endif
}

RT_PLAIN static inline size_t rt_length(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

RT_PLAIN static inline bool rt_same(const char *a, const char *b, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* --- rt_unmangled.c: false: it has no such name, or no room. */
bool rt_unmangle(const char *mangled, char *to, size_t room);

/* --- rt_glob.c */
bool rt_glob(const char *pattern, const char *text);

#endif
