/* SPDX-License-Identifier: Apache-2.0 */
/* The list of parsed events, and errors in their text. */
#include <stdarg.h>
#include <stdio.h>
#include "record/event/event.h"

struct typed_event *event_list_add(struct event_list *list, const char *name, size_t length) {
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 8;
        void *const at = mem_resize(list->arena.memory, list->at, list->room, room, sizeof *list->at);
        if (!at)
            return NULL;
        list->at = at;
        list->room = room;
    }
    const char *const kept = arena_text(&list->arena, name, length);
    if (!kept)
        return NULL;
    struct typed_event *const event = &list->at[list->count];
    *event = (struct typed_event){.name = kept, .leader = (uint32_t)list->count, .members = 1};
    event->attr.size = sizeof event->attr;
    list->count++;
    return event;
}

pfr_status event_wrong(struct event_text *text, const char *at, const char *format, ...) {
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(what, sizeof what, format, arguments) < 0)
        what[0] = '\0';
    va_end(arguments);
    return pfr_fail(text->err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event", "character %zu of '%.40s': %s",
                    (size_t)(at - text->start) + 1, text->start, what);
}
