/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_MADE_FILE_H
#define PFR_TESTS_MADE_FILE_H
/* The output path of a test of src/edit, in a new folder, and the reported losses. */
#include "../file/recording_builder.h"
#include "test.h"

#include <perfray/perfray.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct made_file {
    char folder[32], path[40];
    pfr_edit_counts counts;
    unsigned holes;
    char first[160]; /* text of the first loss */
};

static inline void made_open(struct made_file *m) {
    *m = (struct made_file){.folder = "/tmp/perfray-edit-XXXXXX"};
    assert_non_null(mkdtemp(m->folder));
    snprintf(m->path, sizeof m->path, "%s/made", m->folder);
}

/* Removes the file and its folder; checks that the folder contains no other files. */
static inline void made_close(struct made_file *m) {
    unlink(m->path);
    assert_int_equal(rmdir(m->folder), 0);
}

static inline void made_count_hole(void *context, const pfr_error *hole) {
    struct made_file *m = context;
    if (m->holes++ == 0)
        snprintf(m->first, sizeof m->first, "%s", hole->text);
}

/* Writes the contents of `from` to m->path and opens it; NULL on failure. */
static inline pfr_reader *made_from(struct made_file *m, pfr_reader *from, bool recover, pfr_edit_options how,
                                    pfr_status expected) {
    pfr_error err = {.text = ""};
    how.size = sizeof how;
    how.path = m->path;
    how.hole = made_count_hole;
    how.context = m;
    unlink(m->path);
    m->holes = 0;
    const pfr_status s = (recover ? pfr_recover : pfr_convert)(from, &how, &m->counts, &err);
    if (s != expected)
        fail_msg("%s, not %s: %s%s", pfr_status_name(s), pfr_status_name(expected), s < 0 ? err.text : "", m->first);
    assert_int_equal(m->holes, m->counts.lost);
    return expected < 0 ? NULL : pfr_open(m->path, NULL, &err);
}

/* Counts the records of one type; a hole fails the test. */
static inline uint64_t count_type(pfr_reader *r, uint32_t type) {
    pfr_record rec;
    pfr_error err = {.text = ""};
    pfr_status s;
    uint64_t count = 0;
    ASSERT_OK(pfr_rewind(r, &err), err);
    while ((s = pfr_next(r, &rec, &err)) == PFR_OK)
        count += rec.type == type;
    ASSERT_STATUS(s, PFR_END, err);
    return count;
}

#endif
