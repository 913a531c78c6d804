/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_WHOLE_FILE_H
#define PFR_BASE_WHOLE_FILE_H
/*
 * A file that is there whole or not at all. Until it is whole it has another name, PATH.PID.new, made anew and with
 * mode 0600, so that nothing is written through a link or into somebody else's file; then it takes the place of what
 * has its name.
 *
 *     struct whole_file file;
 *     struct output out;
 *     whole_file_open(&file, path, memory, &out, &err);
 *     ... out_text(&out, "...") ...
 *     whole_file_close(&file, &out, is_whole, &err);
 */
#include "base/io/output.h"

struct whole_file {
    struct memory *memory;
    char *path, *unfinished; /* in one block */
    size_t room;             /* bytes of it */
    bool is_device;
};

/* < 0: *err; nothing is left and nothing needs to be closed. */
pfr_status whole_file_open(struct whole_file *file, const char *path, struct memory *memory, struct output *out,
                           pfr_error *err);

/* Closes the output. A whole file that was written without failure gets its name, another is removed. */
pfr_status whole_file_close(struct whole_file *file, struct output *out, bool is_whole, pfr_error *err);

/* PFR_ERR_USAGE: something that is no regular file has this name, which a new file must not take. A symbolic link is no
   regular file here. */
pfr_status whole_file_may_be(const char *path, pfr_error *err);

/* The same, but character devices may be written into. */
pfr_status whole_file_may_go_to(const char *path, pfr_error *err);

#endif
