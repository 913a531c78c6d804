/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_RECORDED_NAMES_H
#define PFR_MODEL_RECORDED_NAMES_H
/*
 * Names of functions in traces that say themselves which function of which object each id is: those of perfray's own
 * runtime (file/xray/recorder_notes.h). The objects are opened when the first function of them is asked for, and only
 * those that still have the build-id that was recorded.
 */
#include "file/xray/recorder_notes.h"
#include "model/names/named_object.h"

struct recorded_names {
    struct memory *memory;
    struct name_limits *limits;
    const char *symfs, *debug_folder; /* as asked for: where objects are, and what was taken out of them */
    struct recorder_notes notes;
    struct named_object *objects; /* as many as notes has */
    enum symbol_result *results;  /* of opening them */
    uint32_t refused;             /* number of an object that does not name its functions; 0: none */
};

/* Other traces, and NULL, have no functions. Of `where` symfs and folder count; they and the limits must outlive the
   names.
   recorded_names_close is needed in every case. */
pfr_status recorded_names_open(struct recorded_names *names, struct name_limits *limits, pfr_reader *reader,
                               const struct debug_search *where, pfr_error *err);
void recorded_names_close(struct recorded_names *names);

/* false: the trace says nothing of this id. Else *address is as the object's headers count, *path the object's (NULL:
 * it is a place in the program with a name of its own), and *text its name, or NULL where nothing names it or memory
 * ran out. */
bool recorded_name_find(struct recorded_names *names, uint32_t id, bool mangled, unsigned flags,
                        struct symbol_texts *texts, uint64_t *address, const char **path,
                        const struct symbol_text **text);

/* The object that named or could name a function that was found, and where what was taken out of it may be; NULL: none
 * that is there. */
struct named_object *recorded_name_object(const struct recorded_names *names, uint32_t id, struct debug_search *search);

/* One sentence when an object did not name its functions. */
bool recorded_names_doubt(const struct recorded_names *names, char *text, size_t room);

#endif
