/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_PARTS_H
#define PFR_VIEW_ANNOTATE_PARTS_H
/*
 * The steps of perfray/annotate.h, one file for each, and what all of them share:
 *
 *     annotate.c          options, the model, loop over the chosen functions
 *     annotate_counts.c   samples and weights of each frame and event, in one pass over the samples
 *     annotate_choose.c   selects functions by weight, name, line or address
 *     annotate_code.c     the bytes of a function, from the object that the recording names
 *     annotate_rows.c     rows: instructions with their lines and sums
 *     annotate_lines.c    rows by source line (--by-line)
 *     annotate_source.c   texts of source files
 *     annotate_diff.h     two recordings by line (--diff)
 *     annotate_arrows.c   jumps beside the rows
 *     annotate_text.c, annotate_csv.c, annotate_json.c   output
 */
#include <perfray/annotate.h>
#include <perfray/samples.h>

#include "base/memory/fail.h"
#include "base/tables/intern.h"
#include "base/text/json.h"
#include "base/text/public_output.h"
#include "file/read/recording.h"
#include "model/names/named_object.h"
#include "query/sample_filter.h"
#include "symbol/disasm/disasm.h"
#include "symbol/elf/elf_object.h"

#define EVENTS_MOST 64u /* maximum number of events; each has a column */

struct annotate_sum {
    uint64_t samples, weight;
};

struct annotate {
    const pfr_annotate_options *options;
    pfr_symbol_options naming;
    pfr_reader *reader;
    struct memory *memory;
    pfr_model *model;
    pfr_output *out;
    struct sample_filter filter;
    uint32_t events[EVENTS_MOST], nr_events; /* ids of the requested events that have samples */
    struct annotate_sum *sums;               /* sums of samples by innermost frame: [frame id * nr_events + event] */
    size_t nr_sums;
    struct annotate_sum *line_sums; /* [stack id]: self sums of the first event, for by_line */
    struct annotate_chosen {
        uint32_t symbol;
        uint64_t weight;
    } * chosen; /* heaviest first */
    size_t nr_chosen, chosen_room;
    uint32_t printed;     /* number of chosen functions to print */
    bool only_source_dir; /* search only source_dir: the recorded source paths lead to another version
                           */
    struct json json;
    struct source_files {
        const pfr_model_object *object; /* the object whose line table names the files */
        struct intern_table names;      /* file names */
        struct source_text *texts;      /* by number of the file name; defined in annotate_source.c */
        size_t room;
        uint32_t oldest, newest; /* first and last text of the list of texts in memory (source_text.next) */
        uint64_t held, was_read; /* bytes of the texts in memory; bytes read in all */
        uint32_t missing;        /* number of files that were not found */
        char first_missing[512]; /* name of the first missing file, escaped */
        bool is_open, is_over;   /* is_over: READ_MOST was reached */
    } sources;
};

static inline const struct annotate_sum *annotate_sums_of(const struct annotate *a, uint32_t frame) {
    return a->sums + (size_t)frame * a->nr_events;
}

/* Frees the results of counting and choosing, but keeps the model. */
void annotate_release(struct annotate *a);
/* Returns "[unknown]" for a symbol without a name; never NULL. */
const char *annotate_symbol_name(const pfr_model_symbol *symbol);

#endif
