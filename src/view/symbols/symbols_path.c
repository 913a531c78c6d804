/* SPDX-License-Identifier: Apache-2.0 */
/* The path of an object as it is printed. */
#include "view/symbols/symbols_path.h"

struct intern_text symbols_path(const struct symbols *s, const struct symbols_row *row) {
    static const char unknown[] = "[unknown]";
    if (row->object == NO_OBJECT)
        return (struct intern_text){(const void *)unknown, sizeof unknown - 1};
    const struct object *what = &s->profile->state.objects.at[row->object];
    return intern_get(&s->profile->state.names, what->kind == OBJECT_FILE ? what->path : what->short_name);
}
