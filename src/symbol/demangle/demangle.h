/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEMANGLE_H
#define PFR_SYMBOL_DEMANGLE_H
/*
 * Mangled names of C++ and Rust (legacy and v0) as people write them.
 *
 *     struct demangler d;
 *     demangler_init(&d, memory);
 *     const char *shown = demangle(&d, symbol.name, 0);
 *     if (!shown)
 *         shown = symbol.name;
 *     demangler_free(&d);
 *
 * Names of identifiers, operators and simple templates are read by ourselves (plain_mangling.h). All else is done by
 * libiberty in a process of its own, which all demanglers of this process share, from the first mangled name on (or
 * demangler_prepare) until the last of them is freed: what breaks it costs a name, and what breaks it again and again
 * all names that follow; both are counted.
 */
#include <perfray/symbol_options.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/memory/memory.h"

struct demangler {
    struct memory *memory;
    char *text;
    size_t capacity;
    uint64_t unanswered; /* names that were asked for in vain: the process died, was late, or there may be no more */
};

enum {
    DEMANGLE_PARAMETERS = 1,     /* C++: with "(int)" */
    DEMANGLE_HASH = 2,           /* legacy Rust: with "::h0123456789abcdef" */
    DEMANGLE_FOLD_TEMPLATES = 4, /* see fold_templates.h; only in demangle() */
    DEMANGLE_OMIT_TEMPLATES = 8
};

static inline unsigned demangle_flags_of(const pfr_symbol_options *options) {
    return (options->parameters ? DEMANGLE_PARAMETERS : 0) |
           (options->templates == PFR_TEMPLATES_FOLD ? DEMANGLE_FOLD_TEMPLATES : 0) |
           (options->templates == PFR_TEMPLATES_OMIT ? DEMANGLE_OMIT_TEMPLATES : 0);
}

#define MANGLED_MOST ((size_t)16 << 10)   /* bytes of a name that is looked at */
#define DEMANGLED_MOST ((size_t)64 << 10) /* bytes of what it may become; a short name can ask for any amount */
#define DEMANGLERS_MOST 16u               /* processes that are made before all other names stay as they are */

void demangler_init(struct demangler *demangler, struct memory *memory);
void demangler_free(struct demangler *demangler);
/* The process is made now, for a demangler that lives: while memory is small, since a fork makes each page that is
   written later a fault, and each large one a copy. Where it cannot be had it is tried again with the first name. */
void demangler_prepare(void);

/* NULL: not mangled, not understood, beyond a limit, or no memory. Else valid until the next call. */
const char *demangle(struct demangler *demangler, const char *name, unsigned flags);

/* The same in this process: bytes of text, without a NUL; 0: none. For the process that demangles, and fuzzing. */
size_t demangle_here(const char *name, unsigned flags, char to[DEMANGLED_MOST]);
bool demangle_looks_mangled(const char *name);

#endif
