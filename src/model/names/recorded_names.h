/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_RECORDED_NAMES_H
#define PFR_MODEL_RECORDED_NAMES_H
/*
 * Names of functions in traces that contain the object and address of each id: traces of perfray's own runtime
 * (file/xray/recorder_notes.h). An object is opened when its first function is requested, and used only if it still has
 * the recorded build id.
 */
#include "file/xray/recorder_notes.h"
#include "model/names/named_object.h"

struct recorded_names {
    struct memory *memory;
    struct name_limits *limits;
    const char *symfs, *debug_folder; /* prefix of object paths; directory of separate debug files */
    struct recorder_notes notes;
    struct named_object *objects; /* one per object of `notes` */
    enum symbol_result *results;  /* results of opening them */
    uint32_t refused; /* number (from 1) of an object that could not be used; 0: all objects could be used */
};

/* `reader` may be NULL or read a trace without notes: then no function is known. Of `where` only symfs and folder are
   used; both must outlive the names, as must the limits. Call recorded_names_close in every case. */
pfr_status recorded_names_open(struct recorded_names *names, struct name_limits *limits, pfr_reader *reader,
                               const struct debug_search *where, pfr_error *err);
void recorded_names_close(struct recorded_names *names);

/* false: the trace does not know this id. Otherwise *address is the address as in the object's symbols, *path the path
   of the object (NULL: the id is a named scope, not a function), and *text the name (NULL: none, or out of memory). */
bool recorded_name_find(struct recorded_names *names, uint32_t id, bool mangled, unsigned flags,
                        struct symbol_texts *texts, uint64_t *address, const char **path,
                        const struct symbol_text **text);

/* The object of a function that was found; *search is where its separate debug file may be. NULL: the object is not
   available. */
struct named_object *recorded_name_object(const struct recorded_names *names, uint32_t id, struct debug_search *search);

/* Makes a sentence if an object could not be used. */
bool recorded_names_doubt(const struct recorded_names *names, char *text, size_t room);

#endif
