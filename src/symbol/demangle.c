/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libiberty does the work and hands out text in pieces. Rust is tried first: its legacy names are valid C++ names
 * too. Pieces are collected, and count only when the call succeeds, since it may fail after some.
 *
 * A mangled name can say "again what stood there" again and again, so a few dozen bytes may become more text than
 * there is time for, and a callback has no way to say stop. It leaves by longjmp instead. That loses nothing: in this
 * form libiberty keeps all its state on the stack, except while it prints the characters of a punycode identifier,
 * one a call; therefore we leave at a piece of two or more ASCII characters ("::", ", "), which no such call has.
 */
#include <setjmp.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "demangle.h"

#define STUB "@plt"
#define STUB_LENGTH (sizeof STUB - 1)
#define STUB_MOST 4096

struct collector {
    struct demangler *demangler;
    bool failed; /* passed a limit; wait for a piece at which to leave */
    jmp_buf leave;
};

void demangler_init(struct demangler *demangler, struct memory *memory) {
    *demangler = (struct demangler){.memory = memory};
}

void demangler_free(struct demangler *demangler) {
    mem_free(demangler->memory, demangler->text, demangler->capacity, 1);
    *demangler = (struct demangler){.memory = demangler->memory};
}

/* Room for the piece and a NUL. */
static bool make_room(struct demangler *demangler, size_t length) {
    if (length >= DEMANGLED_MOST - demangler->length)
        return false;
    while (demangler->capacity - demangler->length <= length) {
        char *grown = mem_grow(demangler->memory, demangler->text, demangler->capacity, &demangler->capacity, 256, 1);
        if (!grown)
            return false;
        demangler->text = grown;
    }
    return true;
}

static void collect(const char *piece, size_t length, void *context) {
    struct collector *collector = context;
    struct demangler *demangler = collector->demangler;
    if (!collector->failed && make_room(demangler, length)) {
        if (length) /* an empty piece may be NULL */
            memcpy(demangler->text + demangler->length, piece, length);
        demangler->length += length;
        return;
    }
    collector->failed = true;
    if (length >= 2 && (unsigned char)piece[0] < 0x80)
        longjmp(collector->leave, 1);
}

typedef int (*demangle_function)(const char *mangled, int options, demangle_callbackref callback, void *opaque);

static const char *try_language(struct demangler *demangler, demangle_function function, const char *name,
                                int options) {
    struct collector collector = {.demangler = demangler};
    demangler->length = 0;
    if (setjmp(collector.leave) != 0)
        return NULL;
    if (!function(name, options, collect, &collector) || collector.failed || demangler->length == 0)
        return NULL;
    demangler->text[demangler->length] = '\0';
    return demangler->text;
}

static bool looks_mangled(const char *name) {
    return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 || strncmp(name, "_GLOBAL_", 8) == 0;
}

static const char *demangle_plain(struct demangler *demangler, const char *name, unsigned flags) {
    if (!looks_mangled(name) || strnlen(name, MANGLED_MOST + 1) > MANGLED_MOST)
        return NULL;
    const int rust = flags & DEMANGLE_HASH ? DMGL_VERBOSE : 0;
    const char *text = try_language(demangler, rust_demangle_callback, name, rust);
    if (text)
        return text;
    const int parameters = flags & DEMANGLE_PARAMETERS ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
    return try_language(demangler, cplus_demangle_v3_callback, name, parameters);
}

/* The stub of a function in the procedure linkage table, "_Z1fv@plt": the name in front, then the same behind it. */
static const char *demangle_stub(struct demangler *demangler, const char *name, size_t length, unsigned flags) {
    char stem[STUB_MOST];
    if (length - STUB_LENGTH >= sizeof stem)
        return NULL;
    memcpy(stem, name, length - STUB_LENGTH);
    stem[length - STUB_LENGTH] = '\0';
    if (!demangle_plain(demangler, stem, flags) || !make_room(demangler, STUB_LENGTH))
        return NULL;
    memcpy(demangler->text + demangler->length, STUB, STUB_LENGTH + 1);
    demangler->length += STUB_LENGTH;
    return demangler->text;
}

const char *demangle(struct demangler *demangler, const char *name, unsigned flags) {
    if (!looks_mangled(name))
        return NULL;
    const size_t length = strnlen(name, MANGLED_MOST + 1);
    if (length > STUB_LENGTH && length <= MANGLED_MOST && strcmp(name + length - STUB_LENGTH, STUB) == 0)
        return demangle_stub(demangler, name, length, flags);
    return demangle_plain(demangler, name, flags);
}
