/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the newer line that corresponds to a line of the older source: see annotate_diff.h. */
#include "view/annotate/annotate_diff.h"

#include <stdio.h>
#include <string.h>

const char *const line_matched_names[MATCHED_KINDS] = {"none", "build", "text", "number"};

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_same(const char *x, const char *y) {
    return x == y || (x && y && strcmp(x, y) == 0);
}

/* Finds the file of this name among the rows of the other side; if there is none, the file with the same base name,
   provided that there is only one. */
static const char *partner_of(const char *file, const struct line_rows *others) {
    const char *found = NULL;
    if (!file)
        return NULL;
    for (size_t i = 0; i < others->count; i++)
        if (is_same(others->at[i].file, file))
            return file;
    for (size_t i = 0; i < others->count; i++) {
        const char *other = others->at[i].file;
        if (!other || is_same(other, found) || strcmp(last_part(other), last_part(file)) != 0)
            continue;
        if (found)
            return file;
        found = other;
    }
    return found ? found : file;
}

static const struct file_pair *pair_with(const struct line_diff *diff, const char *file, enum diff_recording side) {
    for (size_t i = 0; i < diff->nr_pairs; i++)
        if (is_same(diff->pairs[i].file[side], file))
            return &diff->pairs[i];
    return NULL;
}

/* --- Texts. */

/* Copies of all lines of a file in `texts`; NULL with *count 0: it is not there. */
static const char **lines_of(struct line_diff *diff, enum diff_recording side, const char *file, struct arena *texts,
                             size_t *count, pfr_error *err) {
    struct annotate *a = diff->sides[side];
    *count = source_count(a, file);
    const char **lines = *count ? mem_alloc(a->memory, *count, sizeof *lines) : NULL;
    if (*count && !lines)
        mem_fail(a->memory, err, "annotate");
    for (uint32_t i = 0; lines && i < *count; i++) {
        const char *text = source_line(a, file, i + 1);
        const size_t size = text ? strlen(text) + 1 : 1;
        char *copy = arena_take(texts, size, 1);
        if (!copy) {
            mem_fail(a->memory, err, "annotate");
            break;
        }
        lines[i] = memcpy(copy, text ? text : "", size);
    }
    return lines;
}

static pfr_status match_texts(struct line_diff *diff, struct file_pair *pair, pfr_error *err) {
    const char **lines[IN_BOTH];
    size_t counts[IN_BOTH];
    struct arena texts;
    pfr_status st = PFR_OK;
    err->status = PFR_OK;
    arena_init(&texts, diff->sides[IN_NEW]->memory);
    for (unsigned side = 0; side < IN_BOTH; side++)
        lines[side] = lines_of(diff, (enum diff_recording)side, pair->file[side], &texts, &counts[side], err);
    if (err->status != PFR_OK)
        st = err->status;
    else if (lines[IN_BASE] && lines[IN_NEW]) {
        pair->how = MATCHED_TEXT;
        st = line_match_make(&pair->match, lines[IN_BASE], counts[IN_BASE], lines[IN_NEW], counts[IN_NEW],
                             diff->sides[IN_NEW]->memory, err);
    }
    for (unsigned side = 0; side < IN_BOTH; side++)
        mem_free(diff->sides[side]->memory, lines[side], lines[side] ? counts[side] : 0, sizeof **lines);
    arena_free(&texts);
    return st;
}

static void note_numbers(const struct line_diff *diff, const struct file_pair *pair) {
    const pfr_annotate_options *o = diff->sides[IN_NEW]->options;
    char file[512], sentence[1024];
    if (!o->note)
        return;
    pfr_escape(file, sizeof file, pair->file[IN_NEW], strlen(pair->file[IN_NEW]));
    snprintf(sentence, sizeof sentence,
             "%s: lines are compared by number, since only one version of the source is known; name the older one with "
             "--base-source-dir",
             file);
    o->note(o->context, sentence);
}

/* Pairs the lines of two files. One path can only name two versions if the older version is searched in a different
   directory. */
static pfr_status match_pair(struct line_diff *diff, struct file_pair *pair, pfr_error *err) {
    pair->how = diff->has_one_build ? MATCHED_BUILD : MATCHED_NUMBER;
    if (diff->has_one_build || !pair->file[IN_BASE])
        return PFR_OK;
    const bool has_two = diff->sides[IN_BASE]->only_source_dir || !is_same(pair->file[IN_BASE], pair->file[IN_NEW]);
    if (has_two)
        PFR_TRY(match_texts(diff, pair, err));
    if (pair->how == MATCHED_NUMBER)
        note_numbers(diff, pair);
    return PFR_OK;
}

static pfr_status add_pair(struct line_diff *diff, const char *base, const char *changed, pfr_error *err) {
    struct memory *memory = diff->sides[IN_NEW]->memory;
    if (diff->nr_pairs == diff->pairs_room) {
        void *more = mem_grow(memory, diff->pairs, diff->nr_pairs, &diff->pairs_room, 8, sizeof *diff->pairs);
        if (!more)
            return mem_fail(memory, err, "annotate");
        diff->pairs = more;
    }
    struct file_pair *pair = &diff->pairs[diff->nr_pairs++];
    *pair = (struct file_pair){.file = {base, changed}};
    return match_pair(diff, pair, err);
}

pfr_status line_pairs_make(struct line_diff *diff, const struct line_rows rows[IN_BOTH], pfr_error *err) {
    for (size_t i = 0; i < rows[IN_BASE].count; i++) {
        const char *file = rows[IN_BASE].at[i].file;
        if (!pair_with(diff, file, IN_BASE))
            PFR_TRY(add_pair(diff, file, partner_of(file, &rows[IN_NEW]), err));
    }
    for (size_t i = 0; i < rows[IN_NEW].count; i++) {
        const char *file = rows[IN_NEW].at[i].file;
        if (!pair_with(diff, file, IN_NEW))
            PFR_TRY(add_pair(diff, file, file, err));
    }
    return PFR_OK;
}

void line_pairs_free(struct line_diff *diff) {
    for (size_t i = 0; i < diff->nr_pairs; i++)
        if (diff->pairs[i].how == MATCHED_TEXT)
            line_match_free(&diff->pairs[i].match);
    mem_free(diff->sides[IN_NEW]->memory, diff->pairs, diff->pairs_room, sizeof *diff->pairs);
}

/* The number of the line in the other text; 0: the other text does not have it. */
static uint32_t other_line(const struct file_pair *pair, uint32_t line, enum diff_recording side) {
    const struct line_match *m = &pair->match;
    if (pair->how != MATCHED_TEXT)
        return line;
    if (side == IN_BASE)
        return line && line <= m->nr_base ? m->changed_of[line - 1] : 0;
    return line && line <= m->nr_changed ? m->base_of[line - 1] : 0;
}

/* The position of a removed line: after the nearest earlier line that still exists. */
static uint32_t place_of(const struct file_pair *pair, uint32_t line) {
    const struct line_match *m = &pair->match;
    if (pair->how != MATCHED_TEXT)
        return line;
    return !line || !m->nr_base ? 0 : m->place_of[(line <= m->nr_base ? line : m->nr_base) - 1];
}

struct diff_line line_pairs_place(const struct line_diff *diff, const struct listed_line *row,
                                  enum diff_recording side) {
    const struct file_pair *pair = pair_with(diff, row->file, side);
    const uint32_t other = other_line(pair, row->line, side);
    struct diff_line line = {.file = {pair->file[IN_BASE], pair->file[IN_NEW]}, .inlined = row->inlined};
    line.line[side] = row->line;
    line.line[!side] = other;
    line.after = side == IN_NEW ? row->line : other ? other : place_of(pair, row->line);
    line.matched = other || !row->line ? (uint8_t)pair->how : MATCHED_NOT;
    line.self[side] = (struct annotate_sum){row->samples, row->self};
    line.total[side] = row->total;
    return line;
}
