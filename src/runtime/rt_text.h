/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_TEXT_H
#define PFR_RUNTIME_RT_TEXT_H
/*
 * Bytes and names: inline replacements of C library functions, which may use vector registers and so must not be called
 * inside other programs' function calls. These functions work on any machine, because the perfray command also uses
 * them to show names as the recorder's patterns see them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RT_PLAIN __attribute__((no_instrument_function))
#define RT_RARE RT_PLAIN __attribute__((noinline, cold))

/* Calls no library function, which might use registers that the interrupted call uses. */
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

/* --- rt_unmangled.c: returns false if the name has no unmangled form that patterns use, or if there is no room. */
bool rt_unmangle(const char *mangled, char *to, size_t room);

/* --- rt_glob.c */
bool rt_glob(const char *pattern, const char *text);

#endif
