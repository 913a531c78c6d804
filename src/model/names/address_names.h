/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_ADDRESS_NAMES_H
#define PFR_MODEL_ADDRESS_NAMES_H
/*
 * Names of the addresses of a recording. An object is opened when the first of its addresses is requested, and used
 * only if its build id is the recorded one; kernel symbols are read when the first kernel address must be named. The
 * text of a symbol (its demangled name) is made only once.
 *
 * An object is searched at the recorded path (below symfs), then in ~/.debug by build id. If its symbols were stripped,
 * a separate debug file is searched in /usr/lib/debug/.build-id (below symfs), and under the name that the object gives
 * (.gnu_debuglink). The vdso has no file: it is searched in ~/.debug. If its build id was not recorded, and the running
 * kernel is the recorded one, the vdso of this process is used.
 *
 *    address_names_init(&names, state, memory, &options);
 *    address_names_find(&names, object, address, offset, &name, &err);
 *    address_names_free(&names);
 */
#include "model/names/named_object.h"
#include "model/names/naming.h"
#include "model/state/state.h"

struct address_names_options {
    pfr_symbol_options naming;
    const char *release; /* release of the recorded kernel, used if its build id was not recorded; NULL: unknown */
};

struct address_names {
    struct memory *memory;
    const struct state *state;
    struct address_names_options options;
    struct symbol_texts texts;
    struct named_object *objects; /* by number, as in state->objects */
    size_t count, room;
    struct named_object kernel;           /* including its modules */
    uint32_t caches_read, caches_damaged; /* cache files of lines, counted when objects are opened */
    struct name_limits limits;            /* limits of objects, and the objects that met them */
    struct memory line_memory;            /* share of the memory for lines, which leaves memory for everything else */
};

/* The name of an address. */
struct address_name {
    const char *text; /* demangled, NUL-terminated; valid until address_names_free; NULL: no name */
    uint32_t length;
    uint32_t *note; /* room for data of the caller about the text, 0 at first; valid as long as `text`; NULL: no room */
    const char *mangled;     /* mangled name, NUL-terminated; valid as long as `text` */
    uint64_t ahead;          /* bytes from the start of the symbol to the address */
    uint64_t size;           /* size of the symbol; 0: unknown */
    uint64_t before, behind; /* bytes before the address, and from the address on, that surely have the same name */
};

/* `options` is copied; its texts must outlive the names. No memory is allocated yet. */
void address_names_init(struct address_names *names, const struct state *state, struct memory *memory,
                        const struct address_names_options *options);
void address_names_free(struct address_names *names);

/* The name of an address; `offset` is its offset in the object (struct place). Fails only for lack of memory. */
pfr_status address_names_find(struct address_names *names, uint32_t object, uint64_t address, uint64_t offset,
                              struct address_name *name, pfr_error *err);

/* address_names_find for many addresses in ascending order, object after object: addresses covered by the last symbol
   need no lookup. Zero `near` before the first call. */
struct address_near {
    uint64_t from, end; /* range of addresses that have `name`; from == end: empty */
    uint64_t start;
    uint32_t object;
    struct address_name name;
};
pfr_status address_names_near(struct address_names *names, struct address_near *near, uint32_t object, uint64_t address,
                              uint64_t offset, struct address_name *name, pfr_error *err);
/* Whether `near` has the name of the address; for an object that was requested before. */
bool address_names_is_near(struct address_names *names, const struct address_near *near, uint32_t object,
                           uint64_t address, uint64_t offset);

/* Flags for demangling. */
unsigned address_names_flags(const struct address_names *names);

#define NO_ADDRESS UINT64_MAX

/* Where to look for the separate debug file of an object. */
struct debug_search address_names_search(const struct address_names *names, const struct object *what);

/*
 * Sets *found to the object, which is opened on first request; its handle is NULL if nothing names its addresses. *at
 * is the address as in the object's symbols; NO_ADDRESS: the object does not contain it. `object` must not be
 * NO_OBJECT. Fails only for lack of memory.
 */
pfr_status address_names_object(struct address_names *names, uint32_t object, uint64_t address, uint64_t offset,
                                struct named_object **found, uint64_t *at, pfr_error *err);

/* As address_names_find, for a place from state_place. Code that was added to the running kernel (KSYMBOL) has its own
   name. */
pfr_status address_names_at(struct address_names *names, const struct place *place, uint64_t address,
                            struct address_name *name, pfr_error *err);

/* Finds the kernel object whose symbols name this address, which is in no kernel map. NO_OBJECT: no name. */
pfr_status address_names_kernel(struct address_names *names, uint64_t address, uint32_t *object, pfr_error *err);

/* Copies the release of the recorded kernel from the feature OSRELEASE; "": not recorded. In a stream the feature is a
   record: call this after a pass over all records. */
#define RELEASE_ROOM 65 /* as in struct utsname */
void kernel_release_of(pfr_reader *reader, char release[RELEASE_ROOM]);

/* Whether this is the running kernel's release; false for NULL and "". */
bool kernel_release_is_running(const char *release);

#endif
