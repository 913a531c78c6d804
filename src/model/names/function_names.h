/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_FUNCTION_NAMES_H
#define PFR_MODEL_FUNCTION_NAMES_H
/*
 * What the functions of a trace are called. A trace has ids alone, and nothing in it tells of which program they are:
 * who reads it names the objects (or what llvm-xray extracted from them), the program first, then its shared objects in
 * the order in which they were loaded. The upper 8 bits of an id are the number of its object, the lower 24 the
 * function in it (symbol/xray/xray_map.h); ids of a trace of one object are below 2^24.
 *
 *     function_names_open(&names, memory, &options, &err);
 *     function_names_find(&names, id, &name, &err);      name->text: "area", or "#7", "#1:7"
 *     function_names_line(&names, id, &line, &err);      line->file: "/src/area.c", line->line: 12
 *     function_names_doubt(&names, text, sizeof text)    whether the objects fit what was asked
 *     function_names_close(&names);
 *
 * Objects are opened for their symbols when the first function of them is asked for; an id is looked for once. A struct
 * function_name and its text live until function_names_close.
 */
#include "model/names/named_object.h"
#include "model/names/naming.h"
#include "model/names/recorded_names.h"
#include "symbol/xray/xray_map.h"

#include <perfray/error.h>

#define FUNCTION_OBJECTS_MOST 256u

struct function_names_options {
    pfr_symbol_options naming; /* instr_maps: paths, by number of the object */
    pfr_reader *trace;         /* whose own notes name functions where no maps do; NULL: none */
    bool parameters;           /* C++: "area(int)" instead of "area", whatever `naming` says */
};

/* Where a function begins. */
struct function_line {
    const char *file; /* its path; lives until function_names_close; NULL: not known */
    const char *text; /* "/src/area.c:12", where it is */
    uint32_t line;    /* 0: not known */
    bool asked;
};

struct function_name {
    const char *text; /* NUL-terminated, as the object has its bytes: print_name shows it */
    uint32_t length;
    uint32_t id;
    const char *path;          /* of its object; NULL: not known */
    uint32_t object, function; /* number of the object; function in it, from 1 */
    uint64_t address;          /* as the object's own headers count; 0 where not mapped */
    bool mapped;               /* the object's map has this function */
    bool named;                /* `text` is its name, not its number */
    struct function_line line; /* once it was asked for */
};

struct function_object {
    const char *path;
    struct xray_map map;
    struct named_object symbols; /* not open until asked for */
    uint32_t greatest;           /* function that was asked for */
};

struct function_names {
    struct memory *memory;
    struct function_names_options options;
    struct symbol_texts texts;
    struct u64_map by_id; /* id -> its struct function_name */
    struct function_object *objects;
    size_t nr_objects;
    struct recorded_names recorded;
    struct name_limits limits; /* of objects, and which met them */
    struct memory line_memory; /* a share that leaves room for all else */
    uint64_t objectless;       /* functions whose line was asked for, and of which no object is there */
    uint64_t lineless;         /* of which one is there that does not tell it */
    uint64_t unmapped;         /* distinct ids that no map has, though there are maps */
    uint32_t unmapped_object;  /* of one whose object was not named; 0: none */
};

/* options may be NULL: no names; its texts must outlive the names. PFR_ERR_USAGE, PFR_ERR_IO: one of the maps cannot be
   used or read, `err` names it. function_names_close is needed in every case. */
pfr_status function_names_open(struct function_names *names, struct memory *memory,
                               const struct function_names_options *options, pfr_error *err);
void function_names_close(struct function_names *names);

/* Never NULL but when memory runs out. */
pfr_status function_names_find(struct function_names *names, uint32_t id, const struct function_name **name,
                               pfr_error *err);

/* Where a function begins, by the debugging information of its object, looked for in its own file, in what was taken
   out of it, and in the copy that perf keeps; a map in YAML is of no object that is known. Looked for once, also where
   it is not found. Errors: no memory. */
pfr_status function_names_line(struct function_names *names, uint32_t id, const struct function_line **line,
                               pfr_error *err);

/* "#7", or "#1:7" of another object than the first: what stands for a name where there is none. */
void function_number(const struct function_name *name, char *text, size_t room);

/* One sentence when ids were asked for that the maps do not have: the map may be another program's. false: all fit, or
   there are no maps. */
bool function_names_doubt(const struct function_names *names, char *text, size_t room);

#endif
