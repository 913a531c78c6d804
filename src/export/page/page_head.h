/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_HEAD_H
#define PFR_EXPORT_PAGE_HEAD_H
/*
 * The part of a page that is HTML: policy, style, title, the sentence that says where the time goes, what was lost, and
 * a table of the heaviest functions, which can be read without JavaScript. Every text of the recording is escaped.
 */
#include "export/page/page_stream.h"

#include <perfray/view.h>

/* How every page begins: by this a page is known as one. */
#define PAGE_BEGIN                                                                                                     \
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" "                 \
    "content=\"perfray view\">\n"

/* Sentences about losses and guesses, with NULL at the end; NULL and *err when memory is short. */
char **page_losses(const struct page_data *data, struct memory *memory, pfr_error *err);
void page_losses_free(char **losses, struct memory *memory);

/* Everything before the data, and everything after it. `data` NULL: a page that waits for a file. */
void page_head_write(const struct page_data *data, const pfr_view_options *options, struct output *to);
void page_tail_write(struct output *to);

#endif
