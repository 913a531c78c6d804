/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about one line of a comparison that all output forms print. */
#include "view/annotate/annotate_diff.h"

#include "view/annotate/annotate_source.h"

double diff_share(uint64_t weight, uint64_t all) {
    return all ? 100.0 * (double)weight / (double)all : 0;
}

const char *diff_line_source(struct line_diff *diff, const struct diff_line *line) {
    const enum diff_recording side = line->line[IN_NEW] ? IN_NEW : IN_BASE;
    const bool is_known = side == IN_NEW || line->matched != MATCHED_NOT || diff->sides[IN_BASE]->only_source_dir ||
                          (line->file[IN_BASE] && line->file[IN_NEW] && strcmp(line->file[0], line->file[1]) != 0) ||
                          source_is_copy(diff->sides[IN_BASE], line->file[IN_BASE]);
    return is_known ? source_line(diff->sides[side], line->file[side], line->line[side]) : NULL;
}
