/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_HEAD_H
#define PFR_EXPORT_PAGE_HEAD_H
/*
 * The HTML part of a page: policy, style, title, a sentence about where the time goes, losses, and
 * a table of the heaviest functions or largest waits, which is readable without JavaScript. Every
 * text of the recording is escaped.
 */
#include "export/page/page_stream.h"

#include <perfray/view.h>

/* Every page begins with this text, which identifies pages. */
#define PAGE_BEGIN                                                                                                     \
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" "                 \
    "content=\"perfray view\">\n"

/* Sentences about the baseline of a comparison begin with this text. */
#define PAGE_OF_BASELINE "baseline: "

/* printf format of a sentence; its argument is the maximum size in MB, which the data exceeds. */
#define PAGE_EXCEEDS                                                                                                   \
    "the data is larger than the %.1f MB of --max-size: functions, and threads that are not idle, are not left out"

/* Returns a list of sentences, which ends with NULL: losses of the recording, notes of the caller,
 * and data that the page leaves out or rounds. If memory runs out, returns NULL and sets *err. */
char **page_losses(const struct page_data *data, struct memory *memory, pfr_error *err);
void page_losses_free(char **losses, struct memory *memory);

/* These functions write the HTML before and after the data. `data` NULL: the page waits for a file. */
void page_head_write(const struct page_data *data, const pfr_view_options *options, struct output *to);
void page_tail_write(struct output *to);

#endif
