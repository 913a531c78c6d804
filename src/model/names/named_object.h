/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_NAMED_OBJECT_H
#define PFR_MODEL_NAMED_OBJECT_H
/* An object whose addresses are named, and the texts of its symbols; used for addresses (address_names.h) and for
   functions of traces (function_names.h). */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "model/names/name_limits.h"
#include "symbol/dwarf/debug_lines.h"
#include "symbol/elf/debug_link.h"
#include "symbol/demangle/demangle.h"
#include "symbol/jit/jit_dump.h"
#include "symbol/table/symbol_source.h"

/* An object that was requested. */
struct named_object {
    const struct symbol_source *source;
    struct symbol_handle *handle; /* NULL: there are no names for its addresses */
    struct symbol_handle *debug;  /* symbols from its separate debug file; NULL: not found */
    struct debug_lines *lines;    /* address_lines.h; NULL: no lines, or not requested */
    bool lines_asked;
    struct object_budget *budget; /* its memory limits; NULL: there was no memory for the budget, and nothing is open */
    const char *path;             /* as recorded or given by the user; NULL: unknown */
    struct u64_map texts;         /* name of a symbol in the source -> its struct symbol_text */
    bool open;
};

/* Text of a symbol, as shown. */
struct symbol_text {
    const char *text; /* NUL-terminated; valid until symbol_texts_free */
    uint32_t length;
    uint32_t note; /* data of the caller; 0 at first */
};

/* Memory and demangler of the texts. */
struct symbol_texts {
    struct memory *memory;
    struct demangler demangler;
    struct arena arena;
};

void symbol_texts_init(struct symbol_texts *texts, struct memory *memory);
void symbol_texts_free(struct symbol_texts *texts);
/* Reports how many names are shown mangled because the demangler gave no answer. */
void symbol_texts_note(const struct symbol_texts *texts, void (*note)(void *context, const char *sentence),
                       void *context);

/* Initialises an object without a source of names. `path` and `limits` must outlive it. */
void named_object_begin(struct named_object *object, struct name_limits *limits, const char *path);
void named_object_close(struct named_object *object);

/* Where to look for the separate debug file of an object. */
struct debug_search {
    const char *path, *symfs; /* path of the object, and the prefix of paths; symfs may be NULL */
    const char *folder;       /* replaces /usr/lib/debug below symfs; NULL: that directory */
    const char *fetched;      /* cache directory of debuginfod; NULL: not used */
    const uint8_t *build_id;  /* build id of the object */
    size_t size;              /* 0: use the build id in the object */
};

#define DEBUG_PLACES 6u
#define DEBUG_PATH_ROOM 1024u

/* Place number `place`, from 0, of the separate debug file: by build id; by the name in .gnu_debuglink beside the
   object, in .debug beside the object, or below the debug directory; in the cache of debuginfod; in the copies that
   perf keeps. False: no such place. */
bool named_object_debug_place(const struct named_object *object, const struct debug_search *search, unsigned place,
                              char path[DEBUG_PATH_ROOM], struct symbol_object *found);

/* As named_object_debug_place, with the .gnu_debuglink (`link`, may be NULL) and build id of the object given. */
bool debug_file_place(const struct debug_link *link, const uint8_t *own_id, size_t own_size,
                      const struct debug_search *search, unsigned place, char path[DEBUG_PATH_ROOM],
                      struct symbol_object *found);

/* Opens the object through object->source; memory over a limit is noted in the object's budget. */
enum symbol_result named_object_open(struct named_object *object, const struct symbol_object *wanted);

/* As named_object_open, for a jitdump that was read before; it must outlive the object. */
void named_object_take(struct named_object *object, const struct jit_dump *dump);

/* Opens the separate debug file of the object, if there is one. */
void named_object_open_debug(struct named_object *object, const struct debug_search *search);

/* Opens an object. If the object has no symbols, a separate debug file may provide them. Returns SYMBOL_FOUND, or the
   result of opening the object. */
enum symbol_result named_object_open_elf(struct named_object *object, const struct symbol_object *wanted,
                                         const struct debug_search *search);

/* The cache directory of debuginfod (debuginfod_find_debuginfo(3), "cache"). False: not set, or too long a name. */
bool fetched_folder(char *folder, size_t room);

/* The file for a build id in `folder`, the cache directory of debuginfod; `what` is "debuginfo" or "executable". False:
   no such place. */
bool fetched_object_place(const char *folder, const uint8_t *id, size_t size, const char *what,
                          char path[DEBUG_PATH_ROOM], struct symbol_object *found);

/* The copy that perf keeps of an object, by build id. Copies are in the home directory, regardless of symfs. False: no
   such place. */
bool kept_object_place(const uint8_t *id, size_t size, bool is_vdso, char path[DEBUG_PATH_ROOM],
                       struct symbol_object *found);

/* As kept_object_place, for the separate debug file. */
bool kept_debug_place(const uint8_t *id, size_t size, char path[DEBUG_PATH_ROOM], struct symbol_object *found);

/*
 * Opens object->lines: debugging information in the object, which must be open, in its separate debug file, or in the
 * copy that perf keeps; each must have the object's build id. `cache`: directory of cached lines; NULL: none. `memory`
 * must outlive the object.
 */
void named_object_open_lines(struct named_object *object, const struct debug_search *search, const char *cache,
                             struct memory *memory);
/* As named_object_open_lines, but tries only this file. False: the file has no debugging information. */
bool named_object_try_lines(struct named_object *object, const struct symbol_object *file, const char *debug_folder,
                            const char *cache, struct memory *memory);

/* Finds the symbol of an address in the object and in its separate debug file, which has more names. If both have a
   symbol, the one that starts later is used. Results as symbol_source.find. */
bool named_object_find(struct named_object *object, uint64_t address, struct symbol *symbol);

/* The text of a symbol, made on first request: its name (`mangled`), or else its name demangled with these flags. A
   name that is too expensive to demangle stays mangled. NULL: out of memory, or the object has used up its budget. */
struct symbol_text *named_object_text(struct symbol_texts *texts, struct named_object *object,
                                      const struct symbol *symbol, bool mangled, unsigned flags);

/* As named_object_text, for a name that is not the name of a symbol. Only the text is kept. */
struct symbol_text *symbol_text_of(struct symbol_texts *texts, const char *name, bool mangled, unsigned flags);

#endif
