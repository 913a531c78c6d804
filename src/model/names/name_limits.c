/* SPDX-License-Identifier: Apache-2.0 */
/* Memory limits of names: see name_limits.h. */
#include "model/names/name_limits.h"

#include "base/memory/fail.h"

#define OBJECT_PART 2u  /* 1 / OBJECT_PART of the memory limit is for the symbols, or the lines, of one object */
#define SPARE_PART 8u   /* 1 / SPARE_PART of the memory limit is left for everything but symbols */
#define TEXTS_PART 8u   /* 1 / TEXTS_PART of the memory limit is for the texts of all objects */
#define TEXTS_LEAST 64u /* 1 / TEXTS_LEAST of the memory limit is for the texts of one object */
#define TEXTS_TIMES 4u  /* in addition, the texts of one object may have this many times the size of its file */

void name_limits_init(struct name_limits *l, struct memory *memory) {
    *l = (struct name_limits){.memory = memory, .texts_left = memory->limit / TEXTS_PART};
    memory_share(&l->names, memory);
    l->names.spare = memory->limit / SPARE_PART;
}

struct object_budget *object_budget_make(struct name_limits *l) {
    struct object_budget *b = mem_zeroed(l->memory, 1, sizeof *b);
    if (!b)
        return NULL;
    b->of = l;
    memory_share(&b->names, &l->names);
    b->names.limit = l->memory->limit / OBJECT_PART;
    return b;
}

void object_budget_free(struct object_budget *b) {
    if (b)
        mem_free(b->of->memory, b, 1, sizeof *b);
}

void object_budget_lines(struct object_budget *b, struct memory *memory) {
    memory_share(&b->lines, memory);
    b->lines.limit = memory->limit / OBJECT_PART;
}

bool object_budget_has(const struct object_budget *b, uint64_t length, uint64_t file_size) {
    const uint64_t file = file_size < UINT64_MAX / TEXTS_TIMES / 2 ? file_size : UINT64_MAX / TEXTS_TIMES / 2;
    const uint64_t most = b->of->memory->limit / TEXTS_LEAST + TEXTS_TIMES * file;
    return length <= b->of->texts_left && length <= most && b->texts <= most - length;
}

void object_budget_take(struct object_budget *b, uint64_t length) {
    b->texts += length;
    b->of->texts_left -= length;
}

void object_budget_met(struct object_budget *b, const char *path) {
    if (!b->limited)
        limited_objects_add(&b->of->named, path);
    b->limited = true;
}

void name_limits_meet_lines(struct name_limits *l, struct object_budget *b, const char *path) {
    if (b ? b->unlined : l->lined.count > 0)
        return;
    limited_objects_add(&l->lined, path);
    if (b)
        b->unlined = true;
}

bool name_limits_met(const struct name_limits *l, pfr_error *why) {
    char text[LIMITED_TEXT_ROOM];
    if (l->named.count)
        pfr_fail(why, PFR_HOLE, PFR_NO_OFFSET, 0, "memory",
                 "names of %s are cut or left out: they do not fit (limit memory)",
                 limited_objects_text(&l->named, "of", text));
    return l->named.count;
}

bool name_limits_met_lines(const struct name_limits *l, pfr_error *why) {
    char text[LIMITED_TEXT_ROOM];
    if (l->lined.count)
        pfr_fail(why, PFR_HOLE, PFR_NO_OFFSET, 0, "memory", "lines of %s are left out: they do not fit (limit memory)",
                 limited_objects_text(&l->lined, "of", text));
    return l->lined.count;
}

bool name_limits_any(const struct name_limits *l) {
    return l->named.count || l->lined.count;
}
