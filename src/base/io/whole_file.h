/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_WHOLE_FILE_H
#define PFR_BASE_WHOLE_FILE_H
/*
 * A file that appears complete or not at all. It is written under another name, PATH.PID.new. That file is created
 * exclusively with mode 0600, so that nothing is written through a link or into another user's file. When it is
 * complete, it is renamed over PATH.
 *
 *    struct whole_file file;
 *    struct output out;
 *    whole_file_open(&file, path, memory, &out, &err);
 *    ... out_text(&out, "...") ...
 *    whole_file_close(&file, &out, is_whole, &err);
 */
#include "base/io/output.h"

struct whole_file {
    struct memory *memory;
    char *path, *unfinished; /* the final and the temporary name, in one block */
    size_t room;             /* bytes of this block */
    bool is_device;
};

/* If the result is < 0, *err is filled, nothing is left on disk and nothing needs to be closed. */
pfr_status whole_file_open(struct whole_file *file, const char *path, struct memory *memory, struct output *out,
                           pfr_error *err);

/* Closes the output. The file gets its name if `is_whole` and no write failed; otherwise it is removed. */
pfr_status whole_file_close(struct whole_file *file, struct output *out, bool is_whole, pfr_error *err);

/* Whether a file may be written under this name. PFR_ERR_USAGE: the name is in use by something other than a regular
   file, which must not be replaced. A symbolic link is not a regular file. */
pfr_status whole_file_may_be(const char *path, pfr_error *err);

/* As whole_file_may_be, but character devices are accepted as output. */
pfr_status whole_file_may_go_to(const char *path, pfr_error *err);

#endif
