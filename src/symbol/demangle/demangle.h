/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEMANGLE_H
#define PFR_SYMBOL_DEMANGLE_H
/*
 * Demangles names of C++ and Rust (legacy and v0).
 *
 *  struct demangler d;
 *  demangler_init(&d, memory);
 *  const char *shown = demangle(&d, symbol.name, 0);
 *  if (!shown)
 *      shown = symbol.name;
 *  demangler_free(&d);
 *
 * Identifiers, operators and simple templates are demangled by perfray's own code (plain_mangling.h). All other names
 * go to libiberty in a separate process. All demanglers share this process, which runs from the first such name (or
 * demangler_prepare) until the last demangler is freed. A name that crashes the process stays mangled; after
 * DEMANGLERS_MOST processes, all further names stay mangled. `unanswered` counts the names that stay mangled for these
 * two reasons.
 */
#include <perfray/symbol_options.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/memory/memory.h"

struct demangler {
    struct memory *memory;
    char *text;
    size_t capacity;
    uint64_t unanswered; /* names without an answer: the process died, was too slow, or may not be started again */
};

enum {
    DEMANGLE_PARAMETERS = 1,     /* C++: with "(int)" */
    DEMANGLE_HASH = 2,           /* legacy Rust: with "::h0123456789abcdef" */
    DEMANGLE_FOLD_TEMPLATES = 4, /* see fold_templates.h; ignored by demangle_here */
    DEMANGLE_OMIT_TEMPLATES = 8
};

static inline unsigned demangle_flags_of(const pfr_symbol_options *options) {
    return (options->parameters ? DEMANGLE_PARAMETERS : 0) |
           (options->templates == PFR_TEMPLATES_FOLD ? DEMANGLE_FOLD_TEMPLATES : 0) |
           (options->templates == PFR_TEMPLATES_OMIT ? DEMANGLE_OMIT_TEMPLATES : 0);
}

#define MANGLED_MOST ((size_t)16 << 10)   /* longest mangled name */
#define DEMANGLED_MOST ((size_t)64 << 10) /* longest demangled text; a short name can expand to any length */
#define DEMANGLERS_MOST 16u               /* processes that are started before all further names stay mangled */

void demangler_init(struct demangler *demangler, struct memory *memory);
void demangler_free(struct demangler *demangler);
/* Starts the process now, for the demanglers in use. Call it while the program uses little memory: after a fork, the
   first write to each page costs a page fault, and for large pages a copy. If the start fails, the first name tries
   again. */
void demangler_prepare(void);

/* Returns NULL if the name is not mangled, is not understood or exceeds a limit, or if memory runs out. Otherwise the
   result is valid until the next call. */
const char *demangle(struct demangler *demangler, const char *name, unsigned flags);

/* Demangles in this process. Returns the length of the text, without a NUL; 0 if there is no result. For use in the
   separate process, and for fuzzing. */
size_t demangle_here(const char *name, unsigned flags, char to[DEMANGLED_MOST]);
bool demangle_looks_mangled(const char *name);

#endif
