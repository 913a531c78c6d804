/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_SOURCE_H
#define PFR_VIEW_ANNOTATE_SOURCE_H
/* Lines of source files. */
#include "view/annotate/annotate_parts.h"

/* Sets the object whose line table contains the file names that later calls pass. */
void source_files_of(struct annotate *a, const pfr_model_object *object);
/* Returns the NUL-terminated text of a line. NULL: the file was not found, or it has no such line, or the line is
   longer than LINE_MOST. The next call for another file may free the text. */
const char *source_line(struct annotate *a, const char *file, uint32_t line);
/* Returns the number of lines of the file. */
size_t source_count(struct annotate *a, const char *file);
/* Whether the file's text was found by the object's build id (find_source). It is then the version from which the
   object was built. */
bool source_is_copy(struct annotate *a, const char *file);
void source_files_free(struct annotate *a);
/* Reports requested files that were not found, unless the caller has other places to search. */
void source_files_note(const struct annotate *a);

#define SOURCE_SHOWN_ROOM 4096u
/* Expands the tabs of a line, with tab stops every 8 columns. Returns `to`, or `line` itself if the result does not
   fit. */
const char *source_shown(const char *line, char to[SOURCE_SHOWN_ROOM]);

#endif
