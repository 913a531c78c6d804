/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangling with libiberty, which returns text in pieces. Rust is tried first, because its legacy names are also valid
 * C++ names. Pieces are collected and used only if the whole call succeeds, because the call may fail after some
 * pieces.
 *
 * A mangled name can refer back to its own parts repeatedly, so a few dozen bytes may expand to more text than there is
 * time to produce. The callback has no return value that would stop the expansion. So the callback leaves by longjmp.
 * This leaks nothing, because libiberty keeps all its state on the stack in this mode, with one exception: while it
 * prints a punycode identifier. It then passes one character per call. Therefore the callback leaves only at a piece of
 * two or more ASCII characters ("::", ", ").
 *
 * All this runs in a separate process (demangle_child.c); if that process dies, only names are lost.
 */
#include <setjmp.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "symbol/demangle/demangle.h"

#define STUB "@plt"
#define STUB_LENGTH (sizeof STUB - 1)
#define STUB_MOST 4096

struct demangled_text {
    char *text;
    size_t length;
    bool failed; /* over the limit; the callback leaves at the next suitable piece */
    jmp_buf leave;
};

static void collect(const char *piece, size_t length, void *context) {
    struct demangled_text *collector = context;
    if (!collector->failed && length < DEMANGLED_MOST - collector->length) {
        if (length) /* an empty piece may be NULL */
            memcpy(collector->text + collector->length, piece, length);
        collector->length += length;
        return;
    }
    collector->failed = true;
    if (length >= 2 && (unsigned char)piece[0] < 0x80)
        longjmp(collector->leave, 1);
}

typedef int (*demangle_function)(const char *mangled, int options, demangle_callbackref callback, void *opaque);

static size_t try_language(char *to, demangle_function function, const char *name, int options) {
    struct demangled_text collector = {.text = to};
    if (setjmp(collector.leave) != 0)
        return 0;
    return function(name, options, collect, &collector) && !collector.failed ? collector.length : 0;
}

bool demangle_looks_mangled(const char *name) {
    return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 || strncmp(name, "_GLOBAL_", 8) == 0;
}

static size_t demangle_plain(char *to, const char *name, unsigned flags) {
    if (!demangle_looks_mangled(name) || strnlen(name, MANGLED_MOST + 1) > MANGLED_MOST)
        return 0;
    const size_t length = try_language(to, rust_demangle_callback, name, flags & DEMANGLE_HASH ? DMGL_VERBOSE : 0);
    if (length)
        return length;
    const int parameters = flags & DEMANGLE_PARAMETERS ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
    return try_language(to, cplus_demangle_v3_callback, name, parameters);
}

/* Demangles the name of a PLT entry, "_Z1fv@plt": demangles the part before the suffix, then appends the suffix. */
static size_t demangle_stub(char *to, const char *name, size_t length, unsigned flags) {
    char stem[STUB_MOST];
    if (length - STUB_LENGTH >= sizeof stem)
        return 0;
    memcpy(stem, name, length - STUB_LENGTH);
    stem[length - STUB_LENGTH] = '\0';
    const size_t made = demangle_plain(to, stem, flags);
    if (made == 0 || made > DEMANGLED_MOST - STUB_LENGTH)
        return 0;
    memcpy(to + made, STUB, STUB_LENGTH);
    return made + STUB_LENGTH;
}

size_t demangle_here(const char *name, unsigned flags, char to[DEMANGLED_MOST]) {
    if (!demangle_looks_mangled(name))
        return 0;
    const size_t length = strnlen(name, MANGLED_MOST + 1);
    if (length > STUB_LENGTH && length <= MANGLED_MOST && strcmp(name + length - STUB_LENGTH, STUB) == 0)
        return demangle_stub(to, name, length, flags);
    return demangle_plain(to, name, flags);
}
