/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_SOURCE_H
#define PFR_VIEW_ANNOTATE_SOURCE_H
/* Lines of source files. */
#include "view/annotate/annotate_parts.h"

/* Sets the object whose line table the file names of later calls come from. */
void source_files_of(struct annotate *a, const pfr_model_object *object);
/* The text of a line, NUL-terminated, of a file that an object's line table names; NULL: the file or the line is not
   there, or longer than LINE_MOST. It may be freed by the next call for another file. */
const char *source_line(struct annotate *a, const char *file, uint32_t line);
/* Returns the number of lines of the file. */
size_t source_count(struct annotate *a, const char *file);
/* Whether the file's text was found by the object's build id (find_source), so that it is the version of this build. */
bool source_is_copy(struct annotate *a, const char *file);
void source_files_free(struct annotate *a);
/* Reports requested files that were not found, unless the caller has other places to search. */
void source_files_note(const struct annotate *a);

#define SOURCE_SHOWN_ROOM 4096u
/* The line as text on a terminal: tabs become blanks up to the next multiple of 8 columns. Returns `to`, or `line` if
   it does not fit. */
const char *source_shown(const char *line, char to[SOURCE_SHOWN_ROOM]);

#endif
