/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_COMMAND_H
#define PFR_EXPORT_PAGE_COMMAND_H
/* Interface of page_command.c. */
#include "export/page/page_stream.h"

/* Sets d->of_command and d->has_command. Errors: MEMORY. */
pfr_status page_command_mark(struct page_data *d, struct memory *memory, pfr_error *err);
/* Sets d->own_self and d->own_total from the samples of the page. Errors: MEMORY. */
pfr_status page_command_weigh(struct page_data *d, struct memory *memory, pfr_error *err);
void page_command_free(struct page_data *d, struct memory *memory);

#endif
