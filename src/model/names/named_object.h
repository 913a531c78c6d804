/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_NAMED_OBJECT_H
#define PFR_MODEL_NAMED_OBJECT_H
/*
 * One object whose addresses are named, and what its symbols are called: for who names addresses (address_names.h) and
 * functions of traces (function_names.h) alike.
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "model/names/name_limits.h"
#include "symbol/dwarf/debug_lines.h"
#include "symbol/elf/debug_link.h"
#include "symbol/demangle/demangle.h"
#include "symbol/jit/jit_dump.h"
#include "symbol/table/symbol_source.h"

/* An object that was asked for. */
struct named_object {
    const struct symbol_source *source;
    struct symbol_handle *handle; /* NULL: nothing names its addresses */
    struct symbol_handle *debug;  /* the symbols that were taken out of it, installed apart; NULL: none */
    struct debug_lines *lines;    /* address_lines.h; NULL: none, or not asked for */
    bool lines_asked;
    struct object_budget *budget; /* what it may take; NULL: there was no memory for that, and nothing is open */
    const char *path;             /* of the recording or the user; NULL: not known */
    struct u64_map texts;         /* the source's name of a symbol -> its struct symbol_text */
    bool open;
};

/* A symbol as people write it. */
struct symbol_text {
    const char *text; /* NUL-terminated; lives until symbol_texts_free */
    uint32_t length;
    uint32_t note; /* the caller's; 0 at first */
};

/* Where these texts live, and how they are made. */
struct symbol_texts {
    struct memory *memory;
    struct demangler demangler;
    struct arena arena;
};

void symbol_texts_init(struct symbol_texts *texts, struct memory *memory);
void symbol_texts_free(struct symbol_texts *texts);
/* Says how many names are shown as the object has them because what demangles gave no answer. */
void symbol_texts_note(const struct symbol_texts *texts, void (*note)(void *context, const char *sentence),
                       void *context);

/* Open, with nothing that names its addresses yet. `path` and `limits` must outlive it. */
void named_object_begin(struct named_object *object, struct name_limits *limits, const char *path);
void named_object_close(struct named_object *object);

/* Where what was taken out of an object may be. */
struct debug_search {
    const char *path, *symfs; /* the object, and what is put before its path; symfs may be NULL */
    const char *folder;       /* instead of /usr/lib/debug below symfs; NULL: that */
    const char *fetched;      /* by debuginfod, as it keeps files; NULL: nothing was */
    const uint8_t *build_id;  /* of the object, or */
    size_t size;              /* 0: the one in it */
};

#define DEBUG_PLACES 6u
#define DEBUG_PATH_ROOM 1024u

/* Place number `place`, from 0 on: by build-id; by the name in the object (.gnu_debuglink) beside it, in .debug beside
   it, below the folder; what was fetched; in the copy that perf keeps. False: there is no such place. */
bool named_object_debug_place(const struct named_object *object, const struct debug_search *search, unsigned place,
                              char path[DEBUG_PATH_ROOM], struct symbol_object *found);

/* The same of an object that says this link, which may be NULL, and has this build-id. */
bool debug_file_place(const struct debug_link *link, const uint8_t *own_id, size_t own_size,
                      const struct debug_search *search, unsigned place, char path[DEBUG_PATH_ROOM],
                      struct symbol_object *found);

/* Opens it as object->source does; what is beyond a limit counts in the object's budget. */
enum symbol_result named_object_open(struct named_object *object, const struct symbol_object *wanted);

/* The same of a jitdump, which was read before and must outlive the object. */
void named_object_take(struct named_object *object, const struct jit_dump *dump);

/* Looks for the symbols that were taken out of the object. */
void named_object_open_debug(struct named_object *object, const struct debug_search *search);

/* Opens an object, also one whose symbols are all elsewhere. FOUND, or what opening it gave. */
enum symbol_result named_object_open_elf(struct named_object *object, const struct symbol_object *wanted,
                                         const struct debug_search *search);

/* Where debuginfod-find keeps what it fetched (debuginfod_find_debuginfo(3), "cache"). False: nowhere, or the name is
   too long. */
bool fetched_folder(char *folder, size_t room);

/* What debuginfod keeps of a build-id: "debuginfo" or "executable". False: there is no such place. */
bool fetched_object_place(const char *folder, const uint8_t *id, size_t size, const char *what,
                          char path[DEBUG_PATH_ROOM], struct symbol_object *found);

/* The copy that perf keeps of an object by build-id; it lies in the home folder, whatever symfs says. False: there is
   no such place. */
bool kept_object_place(const uint8_t *id, size_t size, bool is_vdso, char path[DEBUG_PATH_ROOM],
                       struct symbol_object *found);

/* The same of what was taken out of it. */
bool kept_debug_place(const uint8_t *id, size_t size, char path[DEBUG_PATH_ROOM], struct symbol_object *found);

/* Opens object->lines: the debugging information in the object, which is open, in what was taken out of it, or in the
   copy that perf keeps; each must have the object's build-id. `cache`: the folder of what was found out before; NULL:
   none. `memory` must outlive the object. */
void named_object_open_lines(struct named_object *object, const struct debug_search *search, const char *cache,
                             struct memory *memory);
/* That in this file alone. False: it has none. */
bool named_object_try_lines(struct named_object *object, const struct symbol_object *file, const char *debug_folder,
                            const char *cache, struct memory *memory);

/* Of what the object and the symbols taken out of it say, the one that starts last; the latter have more names. As
   symbol_source.find. */
bool named_object_find(struct named_object *object, uint64_t address, struct symbol *symbol);

/* The text of a symbol, made when it is met first: as the object has it (`mangled`), else demangled by these flags. A
   name that took too much to demangle is as it is. NULL: no memory, or the object's budget is used up. */
struct symbol_text *named_object_text(struct symbol_texts *texts, struct named_object *object,
                                      const struct symbol *symbol, bool mangled, unsigned flags);

/* The same for a name that is no symbol's; nothing is kept of it but the text. */
struct symbol_text *symbol_text_of(struct symbol_texts *texts, const char *name, bool mangled, unsigned flags);

#endif
