/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_ADDRESS_NAMES_H
#define PFR_MODEL_ADDRESS_NAMES_H
/*
 * What the addresses of a recording are called. An object is opened when the first of its addresses is asked for, and
 * its names are believed when its build-id is the recorded one; names of the kernel are read when a kernel address must
 * be named and not before. What a symbol is called is worked out once.
 *
 * An object is looked for where the recording says (below symfs), then in ~/.debug by its build-id; symbols that were
 * stripped from it in /usr/lib/debug/.build-id (below symfs), or in the file that it names (.gnu_debuglink). The vdso
 * is in no file: that of our own process stands for it where the running kernel is the recorded one and no build-id
 * says otherwise.
 *
 *     address_names_init(&names, state, memory, &options);
 *     address_names_find(&names, object, address, offset, &name, &err);
 *     address_names_free(&names);
 */
#include "model/names/named_object.h"
#include "model/names/naming.h"
#include "model/state/state.h"

struct address_names_options {
    pfr_symbol_options naming;
    const char *release; /* of the recorded kernel; for recordings that hold no build-id of it; NULL: not told */
};

struct address_names {
    struct memory *memory;
    const struct state *state;
    struct address_names_options options;
    struct symbol_texts texts;
    struct named_object *objects; /* by number, as in state->objects */
    size_t count, room;
    struct named_object kernel;           /* with its modules */
    uint32_t caches_read, caches_damaged; /* files of lines, as objects were opened */
    struct name_limits limits;            /* of objects, and which met them */
    struct memory line_memory;            /* a share that leaves room for all else */
};

/* A symbol as people write it. */
struct address_name {
    const char *text; /* NUL-terminated; lives until address_names_free; NULL: the address has no name */
    uint32_t length;
    uint32_t *note; /* room for what the caller makes of the text, 0 at first; lives as long as `text`; NULL: none */
    const char *mangled;     /* as the object has it, NUL-terminated; lives as long as `text` */
    uint64_t ahead;          /* bytes from the start of the symbol to the address */
    uint64_t size;           /* of the symbol; 0: not known */
    uint64_t before, behind; /* bytes before the address, and from it on, that are called the same for sure */
};

/* options is copied, its texts must outlive the names. Takes no memory yet. */
void address_names_init(struct address_names *names, const struct state *state, struct memory *memory,
                        const struct address_names_options *options);
void address_names_free(struct address_names *names);

/* The name of an address; `offset` is its place in the object (struct place). Errors: no memory. */
pfr_status address_names_find(struct address_names *names, uint32_t object, uint64_t address, uint64_t offset,
                              struct address_name *name, pfr_error *err);

/* The same for many addresses in order, one object after the other: what the last symbol covers is not looked for
   again. `near` is all zero before the first. */
struct address_near {
    uint64_t from, end; /* addresses of the object that are called `name`; the same: none */
    uint64_t start;
    uint32_t object;
    struct address_name name;
};
pfr_status address_names_near(struct address_names *names, struct address_near *near, uint32_t object, uint64_t address,
                              uint64_t offset, struct address_name *name, pfr_error *err);
/* Whether the address has the name that `near` has; for an object that was asked for before. */
bool address_names_is_near(struct address_names *names, const struct address_near *near, uint32_t object,
                           uint64_t address, uint64_t offset);

/* How names are demangled. */
unsigned address_names_flags(const struct address_names *names);

#define NO_ADDRESS UINT64_MAX

/* Where what was taken out of a file may be. */
struct debug_search address_names_search(const struct address_names *names, const struct object *what);

/* The object itself, opened when it is asked for first; its handle is NULL where nothing names it. *at is the address
   as its own headers count, NO_ADDRESS: it has none for it. `object` is one. Errors: no memory. */
pfr_status address_names_object(struct address_names *names, uint32_t object, uint64_t address, uint64_t offset,
                                struct named_object **found, uint64_t *at, pfr_error *err);

/* The same for a place that state_place found, where code that came while the kernel ran has its own name. */
pfr_status address_names_at(struct address_names *names, const struct place *place, uint64_t address,
                            struct address_name *name, pfr_error *err);

/* The kernel object whose own symbols name this address, which no map of the kernel covers; NO_OBJECT: none does. */
pfr_status address_names_kernel(struct address_names *names, uint64_t address, uint32_t *object, pfr_error *err);

/* Whether this release is the running kernel's; NULL and "" are nobody's. */
bool kernel_release_is_running(const char *release);

#endif
