/* SPDX-License-Identifier: Apache-2.0 */
#include "page_notes.h"

#include "command.h"

#include <stdio.h>
#include <string.h>

/* Removes a character of UTF-8 that was cut at the end of the room. */
static void end_at_character(char *text, size_t room) {
    size_t length = strlen(text);
    if (length + 1 < room)
        return;
    while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
        length--;
    text[length > 0 && (unsigned char)text[length - 1] >= 0xc0 ? length - 1 : length] = '\0';
}

static bool is_known(const struct page_notes *notes, const char *text) {
    for (unsigned i = 0; i < notes->count; i++)
        if (strcmp(notes->texts[i], text) == 0)
            return true;
    return false;
}

void page_note(void *context, const char *sentence) {
    struct page_notes *const notes = context;
    char text[sizeof notes->texts[0]];
    snprintf(text, sizeof text, "%s%s", notes->is_baseline && !notes->is_once ? "baseline: " : "", sentence);
    end_at_character(text, sizeof text);
    if (notes->is_once && is_known(notes, text))
        return;
    if (notes->count < PAGE_NOTES_MOST) {
        memcpy(notes->texts[notes->count], text, sizeof text);
        notes->list[notes->count] = notes->texts[notes->count];
        notes->count++;
    }
    complain("%s: %s", notes->file, sentence);
}
