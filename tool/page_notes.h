/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TOOL_PAGE_NOTES_H
#define PFR_TOOL_PAGE_NOTES_H
/* Sentences about the quality of recordings: printed while a model is loaded, and kept for the page made of it. */
#include <stdbool.h>

#define PAGE_NOTES_MOST 32u

struct page_notes {
    const char *file;
    bool is_once;     /* the notes of two models are about one store: do not repeat them */
    bool is_baseline; /* the model that is being loaded is the one to compare with */
    unsigned count;
    char texts[PAGE_NOTES_MOST][256];
    const char *list[PAGE_NOTES_MOST + 1]; /* as pfr_view_options.notes */
};

/* Callback `note` of pfr_model_options; the context is a struct page_notes. */
void page_note(void *notes, const char *sentence);

#endif
