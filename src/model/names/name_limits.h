/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_NAME_LIMITS_H
#define PFR_MODEL_NAME_LIMITS_H
/*
 * Memory limits of names: one object of a recording must not use the memory that all others need. An object that was
 * crafted to do so loses only its own names, and is reported at the end.
 *
 *     limit                                       what happens beyond it
 *     symbols of one object: half of `memory`     no address of the object is named
 *     of all: an eighth of `memory` is left       no address of the next object is named
 *     texts of one object: a 64th of `memory`,    the next symbols of the object have no name
 *       and 4 times its file
 *     texts of all: an eighth of `memory`         the next symbols have no name
 *     lines of one object: half of `memory`       the next addresses of the object have no line
 *     names in its debugging information: a 128th the next inlined functions of the object have no name
 *       of `memory`, and 4 times its sections
 *
 * Which symbols of an object lose their names depends on the order of requests. At the limits of texts, the names that
 * `script` prints may therefore depend on the number of threads. The limits of symbols do not depend on it.
 *
 * A symbol table's own limits are in symbol/elf/elf_flood.c and symbol/table/symbol_table.h. A text is a demangled
 * name, which can be many times as long as the name in the file.
 */
#include "base/memory/memory.h"
#include "model/names/limited_objects.h"
#include "symbol/table/symbol_source.h"

struct name_limits {
    struct memory *memory;
    struct memory names;                 /* memory share: symbols of all objects */
    uint64_t texts_left;                 /* bytes */
    struct limited_objects named, lined; /* objects that met a limit of their names, and of their lines */
};

/* Memory use of one object. */
struct object_budget {
    struct name_limits *of;
    struct memory names, lines; /* memory shares: its symbols, and its debugging information */
    uint64_t texts;             /* bytes of its texts so far */
    bool limited, unlined;      /* counted in of->named, in of->lined */
};

void name_limits_init(struct name_limits *limits, struct memory *memory);

/* Initialises the share for the lines of one object, from `memory`. */
void object_budget_lines(struct object_budget *budget, struct memory *memory);

/* Whether a text of `length` bytes may still be made for an object whose file, or debugging information, has
   `file_size` bytes. */
bool object_budget_has(const struct object_budget *budget, uint64_t length, uint64_t file_size);
void object_budget_take(struct object_budget *budget, uint64_t length);

/* NULL: out of memory. */
struct object_budget *object_budget_make(struct name_limits *limits);
/* NULL is allowed. */
void object_budget_free(struct object_budget *budget);

/* Notes that the object met a limit of its names. `path` NULL: not known. */
void object_budget_met(struct object_budget *budget, const char *path);
/* Notes that the object met a limit of its lines. `budget` NULL: there was no memory for the budget. */
void name_limits_meet_lines(struct name_limits *limits, struct object_budget *budget, const char *path);

/* Whether objects met a limit of their names, or of their lines; *why is filled with a sentence that names them. */
bool name_limits_met(const struct name_limits *limits, pfr_error *why);
bool name_limits_met_lines(const struct name_limits *limits, pfr_error *why);
/* Whether any object met either limit. */
bool name_limits_any(const struct name_limits *limits);

#endif
