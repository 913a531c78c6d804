/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_NAME_LIMITS_H
#define PFR_MODEL_NAME_LIMITS_H
/*
 * What names may take: one object of a recording must not take what all others need. An object that was made for it
 * loses its own names, and is named in a sentence at the end.
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
 * Which symbols of an object are the next depends on the order in which they are asked for, so that at the limits of
 * texts `script` may name others with another number of threads. What symbol tables are refused for does not.
 *
 * A symbol table's own limits are in symbol/elf/elf_flood.c and symbol/table/symbol_table.h. A text is a name as people
 * write it, which demangling can make many times as long as it is in the file.
 */
#include "base/memory/memory.h"
#include "model/names/limited_objects.h"
#include "symbol/table/symbol_source.h"

struct name_limits {
    struct memory *memory;
    struct memory names;                 /* a share: symbols of all objects */
    uint64_t texts_left;                 /* bytes */
    struct limited_objects named, lined; /* that met a limit of their names, and of their lines */
};

/* What one object takes. */
struct object_budget {
    struct name_limits *of;
    struct memory names, lines; /* shares: its symbols, and its debugging information */
    uint64_t texts;             /* bytes of texts that were made */
    bool limited, unlined;      /* counted in of->named, in of->lined */
};

void name_limits_init(struct name_limits *limits, struct memory *memory);

/* The lines of one object, as a share of `memory`. */
void object_budget_lines(struct object_budget *budget, struct memory *memory);

/* Whether so many bytes of text may still be made of an object whose names come from `file_size` bytes. */
bool object_budget_has(const struct object_budget *budget, uint64_t length, uint64_t file_size);
void object_budget_take(struct object_budget *budget, uint64_t length);

/* NULL: no memory, which failed in limits->memory. */
struct object_budget *object_budget_make(struct name_limits *limits);
/* NULL is fine. */
void object_budget_free(struct object_budget *budget);

/* The object met a limit of its names; path NULL: not known. */
void object_budget_met(struct object_budget *budget, const char *path);
/* The same of its lines; budget NULL: there was no memory for it. */
void name_limits_meet_lines(struct name_limits *limits, struct object_budget *budget, const char *path);

/* Whether objects met a limit of their names, or of their lines; *why says which. */
bool name_limits_met(const struct name_limits *limits, pfr_error *why);
bool name_limits_met_lines(const struct name_limits *limits, pfr_error *why);
/* Either. */
bool name_limits_any(const struct name_limits *limits);

#endif
