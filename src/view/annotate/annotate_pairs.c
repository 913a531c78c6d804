/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the newer line that corresponds to a line of the older source: see annotate_diff.h. */
#include "view/annotate/annotate_diff.h"

#include "view/annotate/annotate_source.h"

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

/* --- Files. The names of the new side are numbered first, so numbers below `nr_new` are files of the new side. */

#define MANY UINT32_MAX /* several files have this base name */

static uint64_t number_of(const struct line_diff *diff, const char *file) {
    return file ? intern_find(&diff->names, file, strlen(file)) : INTERN_NONE;
}

/* Numbers the files of one side. */
static pfr_status number_files(struct line_diff *diff, const struct line_rows *rows, pfr_error *err) {
    uint32_t id;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i].file)
            PFR_TRY(intern_put(&diff->names, rows->at[i].file, strlen(rows->at[i].file), &id, err));
    return PFR_OK;
}

/* The files of the new side by their base names. */
struct base_names {
    struct intern_table names;
    uint32_t nr_new;     /* number of files of the new side */
    struct u64_map file; /* by number of the base name: number of the file, or MANY */
};

static pfr_status read_base_names(struct base_names *b, const struct line_diff *diff, pfr_error *err) {
    uint32_t id;
    b->nr_new = diff->names.count;
    for (uint32_t file = 0; file < b->nr_new; file++) {
        const char *name = last_part(intern_chars(&diff->names, file));
        bool is_new;
        PFR_TRY(intern_put(&b->names, name, strlen(name), &id, err));
        uint64_t *at = u64_map_at(&b->file, id, file, &is_new);
        if (!at)
            return mem_fail(b->file.memory, err, "annotate");
        if (!is_new)
            *at = MANY;
    }
    return PFR_OK;
}

/* Finds the file of this name on the new side; if there is none, the file with the same base name, provided that there
   is only one. */
static const char *partner_of(const struct line_diff *diff, const struct base_names *b, const char *file) {
    uint64_t found = MANY;
    if (!file || number_of(diff, file) < b->nr_new)
        return file;
    const char *name = last_part(file);
    const uint32_t id = intern_find(&b->names, name, strlen(name));
    if (id != INTERN_NONE)
        u64_map_get(&b->file, id, &found);
    return found == MANY ? file : intern_chars(&diff->names, (uint32_t)found);
}

static const struct file_pair *pair_with(const struct line_diff *diff, const char *file, enum diff_recording side) {
    uint64_t index;
    return u64_map_get(&diff->pair_of[side], number_of(diff, file), &index) ? &diff->pairs[index] : NULL;
}

/* --- Matches made for earlier functions. */

#define CACHED_LINES_MOST ((size_t)4 << 20) /* the cache is emptied when its matches have more lines than this */

struct cached_match {
    bool is_text; /* both files were found, and `match` is valid */
    struct line_match match;
};

/* A source file that was found by build id (find_source) belongs to one object, so its name does not identify it
   without the object. */
struct match_key {
    const pfr_model_object *objects[IN_BOTH];
    uint32_t names[IN_BOTH];
};

void match_cache_init(struct match_cache *cache, struct memory *memory) {
    *cache = (struct match_cache){.memory = memory};
    intern_init(&cache->names, memory);
    intern_init(&cache->keys, memory);
}

void match_cache_free(struct match_cache *cache) {
    for (size_t i = 0; i < cache->count; i++)
        if (cache->at[i].is_text)
            line_match_free(&cache->at[i].match);
    mem_free(cache->memory, cache->at, cache->room, sizeof *cache->at);
    intern_free(&cache->names);
    intern_free(&cache->keys);
}

/* Finds the cache entry of a pair of files. If the cache has no such entry, adds an empty one and sets *is_new. */
static pfr_status find_match(struct line_diff *diff, const struct file_pair *pair, struct cached_match **to,
                             bool *is_new, pfr_error *err) {
    struct match_cache *c = diff->cache;
    struct match_key key;
    uint32_t index;
    memset(&key, 0, sizeof key);
    for (unsigned side = 0; side < IN_BOTH; side++) {
        const struct annotate *a = diff->sides[side];
        key.objects[side] = a->options->find_source ? a->sources.object : NULL;
        PFR_TRY(intern_put(&c->names, pair->file[side], strlen(pair->file[side]), &key.names[side], err));
    }
    PFR_TRY(intern_put(&c->keys, &key, sizeof key, &index, err));
    *is_new = index == c->count;
    if (*is_new) {
        void *more = mem_grow(c->memory, c->at, c->count, &c->room, 16, sizeof *c->at);
        if (!more)
            return mem_fail(c->memory, err, "annotate");
        c->at = more;
        c->at[c->count++] = (struct cached_match){.is_text = false};
    }
    *to = &c->at[index];
    return PFR_OK;
}

/* --- Texts. */

/* Returns copies of all lines of a file, made in `texts`. NULL with *count 0: the file was not found; NULL otherwise:
   out of memory. */
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

static pfr_status match_texts(struct line_diff *diff, const struct file_pair *pair, struct cached_match *to,
                              pfr_error *err) {
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
        to->is_text = true;
        st = line_match_make(&to->match, lines[IN_BASE], counts[IN_BASE], lines[IN_NEW], counts[IN_NEW],
                             diff->sides[IN_NEW]->memory, err);
    }
    for (unsigned side = 0; side < IN_BOTH; side++)
        mem_free(diff->sides[side]->memory, lines[side], lines[side] ? counts[side] : 0, sizeof **lines);
    arena_free(&texts);
    return st;
}

static pfr_status match_once(struct line_diff *diff, struct file_pair *pair, pfr_error *err) {
    struct cached_match *match = NULL;
    bool is_new;
    PFR_TRY(find_match(diff, pair, &match, &is_new, err));
    if (is_new) {
        PFR_TRY(match_texts(diff, pair, match, err));
        diff->cache->made++;
        diff->cache->lines += match->is_text ? match->match.nr_base + match->match.nr_changed : 0;
    }
    if (match->is_text) {
        pair->how = MATCHED_TEXT;
        pair->match = match->match;
    }
    return PFR_OK;
}

/* Reports, in one note, the files whose lines are compared by number because one of their versions was not found. */
static void note_numbers(const struct line_diff *diff) {
    const pfr_annotate_options *o = diff->sides[IN_NEW]->options;
    char file[512], others[64] = "", sentence[1024];
    const struct file_pair *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < diff->nr_pairs; i++)
        if (diff->pairs[i].how == MATCHED_NUMBER && diff->pairs[i].file[IN_BASE] && !count++)
            first = &diff->pairs[i];
    if (!o->note || !first)
        return;
    pfr_escape(file, sizeof file, first->file[IN_NEW], strlen(first->file[IN_NEW]));
    if (count > 1)
        snprintf(others, sizeof others, " and %zu other file%s", count - 1, count > 2 ? "s" : "");
    snprintf(
        sentence, sizeof sentence,
        "%s%s: lines are compared by number, because not both versions of the source were found; give the directory "
        "of the older one with --base-source-dir",
        file, others);
    o->note(o->context, sentence);
}

/* One path can only name two versions if the older version is searched in a different directory, or if a version was
   found by its build id. */
static bool has_two_versions(const struct line_diff *diff, const struct file_pair *pair) {
    return diff->sides[IN_BASE]->only_source_dir || !is_same(pair->file[IN_BASE], pair->file[IN_NEW]) ||
           source_is_copy(diff->sides[IN_BASE], pair->file[IN_BASE]) ||
           source_is_copy(diff->sides[IN_NEW], pair->file[IN_NEW]);
}

/* Pairs the lines of two files. */
static pfr_status match_pair(struct line_diff *diff, struct file_pair *pair, pfr_error *err) {
    pair->how = diff->has_one_build ? MATCHED_BUILD : MATCHED_NUMBER;
    if (diff->has_one_build || !pair->file[IN_BASE])
        return PFR_OK;
    return has_two_versions(diff, pair) ? match_once(diff, pair, err) : PFR_OK;
}

static pfr_status add_pair(struct line_diff *diff, const char *base, const char *changed, pfr_error *err) {
    struct memory *memory = diff->sides[IN_NEW]->memory;
    if (diff->nr_pairs == diff->pairs_room) {
        void *more = mem_grow(memory, diff->pairs, diff->nr_pairs, &diff->pairs_room, 8, sizeof *diff->pairs);
        if (!more)
            return mem_fail(memory, err, "annotate");
        diff->pairs = more;
    }
    struct file_pair *pair = &diff->pairs[diff->nr_pairs];
    *pair = (struct file_pair){.file = {base, changed}};
    for (unsigned side = 0; side < IN_BOTH; side++)
        if (!u64_map_at(&diff->pair_of[side], number_of(diff, pair->file[side]), diff->nr_pairs, NULL))
            return mem_fail(memory, err, "annotate");
    diff->nr_pairs++;
    return match_pair(diff, pair, err);
}

static pfr_status add_pairs(struct line_diff *diff, const struct line_rows rows[IN_BOTH], const struct base_names *b,
                            pfr_error *err) {
    for (size_t i = 0; i < rows[IN_BASE].count; i++) {
        const char *file = rows[IN_BASE].at[i].file;
        if (!pair_with(diff, file, IN_BASE))
            PFR_TRY(add_pair(diff, file, partner_of(diff, b, file), err));
    }
    for (size_t i = 0; i < rows[IN_NEW].count; i++) {
        const char *file = rows[IN_NEW].at[i].file;
        if (!pair_with(diff, file, IN_NEW))
            PFR_TRY(add_pair(diff, file, file, err));
    }
    return PFR_OK;
}

void line_pairs_init(struct line_diff *diff) {
    struct memory *memory = diff->sides[IN_NEW]->memory;
    intern_init(&diff->names, memory);
    for (unsigned side = 0; side < IN_BOTH; side++)
        u64_map_init(&diff->pair_of[side], memory);
}

pfr_status line_pairs_make(struct line_diff *diff, const struct line_rows rows[IN_BOTH], pfr_error *err) {
    struct base_names b;
    intern_init(&b.names, diff->sides[IN_NEW]->memory);
    u64_map_init(&b.file, diff->sides[IN_NEW]->memory);
    pfr_status st = number_files(diff, &rows[IN_NEW], err);
    if (st == PFR_OK)
        st = read_base_names(&b, diff, err);
    if (st == PFR_OK)
        st = number_files(diff, &rows[IN_BASE], err);
    if (st == PFR_OK)
        st = add_pairs(diff, rows, &b, err);
    if (st == PFR_OK)
        note_numbers(diff);
    u64_map_free(&b.file);
    intern_free(&b.names);
    return st;
}

void line_pairs_free(struct line_diff *diff) {
    struct match_cache *c = diff->cache;
    if (c->lines > CACHED_LINES_MOST) {
        match_cache_free(c);
        match_cache_init(c, c->memory);
    }
    mem_free(diff->sides[IN_NEW]->memory, diff->pairs, diff->pairs_room, sizeof *diff->pairs);
    for (unsigned side = 0; side < IN_BOTH; side++)
        u64_map_free(&diff->pair_of[side]);
    intern_free(&diff->names);
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
