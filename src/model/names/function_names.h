/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_FUNCTION_NAMES_H
#define PFR_MODEL_FUNCTION_NAMES_H
/*
 * Names of a trace's functions. A trace contains only ids of functions and does not name the program. Therefore the
 * user gives the objects (or maps extracted by llvm-xray): first the program, then its shared objects in the order in
 * which they were loaded. The upper 8 bits of an id are the index of its object, the lower 24 the number of the
 * function (symbol/xray/xray_map.h); in a trace of one object ids are below 2^24.
 *
 *    function_names_open(&names, memory, &options, &err);
 *    function_names_find(&names, id, &name, &err);      name->text: "area", or "#7", "#1:7"
 *    function_names_line(&names, id, &line, &err);      line->file: "/src/area.c", line->line: 12
 *    function_names_doubt(&names, text, sizeof text)    whether the objects match the ids
 *    function_names_close(&names);
 *
 * Symbols of an object are read when its first function is requested; an id is looked up once. A struct function_name
 * and its text are valid until function_names_close.
 */
#include "model/names/named_object.h"
#include "model/names/naming.h"
#include "model/names/recorded_names.h"
#include "symbol/xray/xray_map.h"

#include <perfray/error.h>

#define FUNCTION_OBJECTS_MOST 256u

struct function_names_options {
    pfr_symbol_options naming; /* instr_maps: paths, by index of the object */
    pfr_reader *trace;         /* its notes name functions if there are no maps; NULL: not used */
    bool parameters; /* names of C++ functions have parameters, "area(int)" instead of "area", regardless of `naming` */
};

/* The line at which a function begins. */
struct function_line {
    const char *file; /* its path; valid until function_names_close; NULL: unknown */
    const char *text; /* "/src/area.c:12"; set together with `file` */
    uint32_t line;    /* 0: unknown */
    bool asked;
};

struct function_name {
    const char *text; /* NUL-terminated, not escaped: print_name escapes it */
    uint32_t length;
    uint32_t id;
    const char *path;          /* path of its object; NULL: unknown */
    uint32_t object, function; /* index of the object; number of the function in it, from 1 */
    uint64_t address;          /* address as in the object's symbols; 0 if not mapped */
    bool mapped;               /* the object's map has this function */
    bool named;                /* `text` is its name, not its number */
    struct function_line line; /* set by function_names_line */
};

struct function_object {
    const char *path;
    struct xray_map map;
    struct named_object symbols; /* opened on request */
    uint32_t greatest;           /* highest function number requested */
};

struct function_names {
    struct memory *memory;
    struct function_names_options options;
    struct symbol_texts texts;
    struct u64_map by_id; /* id -> its struct function_name */
    struct function_object *objects;
    size_t nr_objects;
    struct recorded_names recorded;
    struct name_limits limits; /* limits of objects, and the objects that met them */
    struct memory line_memory; /* share of the memory for lines, which leaves memory for everything else */
    uint64_t objectless;       /* functions whose line was requested but whose object is missing */
    uint64_t lineless;         /* functions whose object is available but lacks the line */
    uint64_t unmapped;         /* number of distinct ids without a map, if there are maps */
    uint32_t unmapped_object;  /* index of an object for which no map was given; 0: there is no such object */
};

/* `options` may be NULL: then functions have no names. Its texts must outlive the names. PFR_ERR_USAGE, PFR_ERR_IO: one
   of the maps cannot be used or read; `err` names it. Call function_names_close in every case. */
pfr_status function_names_open(struct function_names *names, struct memory *memory,
                               const struct function_names_options *options, pfr_error *err);
void function_names_close(struct function_names *names);

/* Sets *name to the function with this id. *name is NULL only if memory runs out. */
pfr_status function_names_find(struct function_names *names, uint32_t id, const struct function_name **name,
                               pfr_error *err);

/*
 * The line at which a function begins, from the debugging information of its object: in the file itself, in its
 * separate debug file, or in the copy that perf keeps. The object of a map in YAML is unknown. The line is looked up
 * only once, even if it is not found. Fails only for lack of memory.
 */
pfr_status function_names_line(struct function_names *names, uint32_t id, const struct function_line **line,
                               pfr_error *err);

/* Writes "#7", or "#1:7" for an object other than the first. Shown if the function has no name. */
void function_number(const struct function_name *name, char *text, size_t room);

/* Writes a sentence if requested ids are missing in the maps, because a map may be of another program, or if an object
   of the trace could not be used. false: there is nothing to report. */
bool function_names_doubt(const struct function_names *names, char *text, size_t room);

#endif
