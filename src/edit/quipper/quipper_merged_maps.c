/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings as quipper writes them: see quipper_merged_maps.h. */
#include "edit/quipper/quipper_merged_maps.h"

#include "base/tables/radix.h"

#define MISC_BUILD_ID 0x4000u
#define NOTHING UINT32_MAX
#define PROTECTION_READ 1u
#define PROTECTION_WRITE 2u
#define PROTECTION_EXECUTE 4u
#define SHARING 15u /* bits of flags that give the kind of sharing */

#define JOIN_ANONYMOUS 1u
#define JOIN_HUGE 2u   /* may be a copy in huge pages of part of a file */
#define JOIN_DEVICE 4u /* mappings of devices are never joined */

void quipper_joins_init(struct quipper_joins *j, struct memory *memory) {
    *j = (struct quipper_joins){.memory = memory};
    intern_init(&j->names, memory);
}

void quipper_joins_free(struct quipper_joins *j) {
    mem_free(j->memory, j->at, j->room, sizeof *j->at);
    mem_free(j->memory, j->order, j->count, sizeof *j->order);
    intern_free(&j->names);
}

/* --- Collecting. */

static bool is_any_of(const pfr_text *name, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strlen(texts[i]) == name->length && memcmp(texts[i], name->at, name->length) == 0)
            return true;
    return false;
}

/* Files of huge pages are named after the object that they copy: folder/name.buildid_HEX. */
static bool names_a_build_id(const char *name) {
    static const char mark[] = ".buildid_";
    const char *last = strrchr(name, '/');
    const char *found = last ? strstr(last, mark) : NULL;
    return found && found[sizeof mark - 1];
}

static uint8_t kind_of(const pfr_text *name, const char *chars) {
    static const char *const anonymous[] = {"//anon", "/anon_hugepage", "/anon_hugepage (deleted)"};
    if (is_any_of(name, anonymous, sizeof anonymous / sizeof *anonymous))
        return JOIN_ANONYMOUS | JOIN_HUGE;
    if (names_a_build_id(chars))
        return JOIN_HUGE;
    return strncmp(chars, "/dev/", 5) == 0 ? JOIN_DEVICE : 0;
}

static void take_mmap2(struct quipper_join *join, const pfr_record *rec, const struct pfr_rec_mmap2 *m) {
    join->prot = m->prot;
    join->flags = m->flags;
    join->maj = m->maj;
    join->min = m->min;
    join->ino = m->ino;
    join->ino_generation = m->ino_generation;
    join->has_build_id = (rec->misc & MISC_BUILD_ID) != 0;
    join->build_id_size = m->build_id_size;
    if (m->build_id.length)
        memcpy(join->build_id, m->build_id.at,
               m->build_id.length < sizeof join->build_id ? (size_t)m->build_id.length : sizeof join->build_id);
}

pfr_status quipper_joins_note(struct quipper_joins *j, const pfr_record *rec, const union any_layout *body,
                              uint64_t time, pfr_error *err) {
    const struct pfr_rec_mmap *m = &body->as_mmap; /* both types begin with the same members */
    const pfr_text *name = rec->type == PFR_RECORD_MMAP2 ? &body->as_mmap2.filename : &m->filename;
    struct quipper_join join = {.time = time,
                                .start = m->addr,
                                .len = m->len,
                                .pgoff = m->pgoff,
                                .pid = m->pid,
                                .type = (uint8_t)rec->type,
                                .next = NOTHING};
    if (rec->type == PFR_RECORD_MMAP2)
        take_mmap2(&join, rec, &body->as_mmap2);
    PFR_TRY(intern_put(&j->names, name->at, name->length, &join.name, err));
    join.kind = kind_of(name, intern_chars(&j->names, join.name));
    struct quipper_join *grown = mem_grow(j->memory, j->at, j->count, &j->room, 64, sizeof *grown);
    if (!grown)
        return mem_fail(j->memory, err, "mappings");
    j->at = grown;
    j->at[j->count++] = join;
    return PFR_OK;
}

/* --- Which mappings belong together. */

static bool goes_on(const struct quipper_join *a, const struct quipper_join *b) {
    return a->pid == b->pid && a->start + a->len == b->start;
}

/* Anonymous memory may follow a file's data mapping: the zero-initialized part of its data (.bss). */
static bool goes_on_in_file(const struct quipper_join *a, const struct quipper_join *b) {
    if (a->kind & JOIN_ANONYMOUS)
        return false;
    return a->pgoff + a->len == b->pgoff || (!(a->prot & PROTECTION_EXECUTE) && b->kind & JOIN_ANONYMOUS);
}

static bool may_be_one_file(const struct quipper_join *a, const struct quipper_join *b) {
    return a->name == b->name || (a->kind | b->kind) & JOIN_HUGE;
}

static bool is_data(uint32_t prot) {
    return prot == PROTECTION_READ || prot == (PROTECTION_READ | PROTECTION_WRITE);
}

static bool are_alike_protected(const struct quipper_join *a, const struct quipper_join *b) {
    const bool alike_shared = (a->flags & SHARING) == (b->flags & SHARING) || a->prot & PROTECTION_EXECUTE;
    return alike_shared && (a->prot == b->prot || (is_data(a->prot) && is_data(b->prot)));
}

static void become_part_of(struct quipper_join *join, const struct quipper_join *file) {
    join->name = file->name;
    join->kind = file->kind;
    join->changed = true;
    if (join->type != PFR_RECORD_MMAP2 || file->type != PFR_RECORD_MMAP2 || join->has_build_id != file->has_build_id)
        return;
    join->moved = true;
    join->maj = file->maj;
    join->min = file->min;
    join->ino = file->ino;
    join->ino_generation = file->ino_generation;
    join->build_id_size = file->build_id_size;
    memcpy(join->build_id, file->build_id, sizeof join->build_id);
}

/* --- Huge pages, by process. */

struct process {
    uint32_t first, last; /* adjacent mappings that may be huge pages; NOTHING: no such mapping */
    uint32_t before;      /* mapping of a file before `first`; NOTHING: no such mapping */
    uint32_t latest;      /* the mapping seen last */
};

static bool may_be_one_chunk(const struct quipper_join *last, const struct quipper_join *now) {
    return goes_on(last, now) && last->name == now->name &&
           (goes_on_in_file(last, now) || (last->pgoff == 0 && now->pgoff == 0));
}

static void fill_gap(struct quipper_joins *j, uint32_t first, uint32_t behind, uint64_t pgoff) {
    for (uint32_t i = first; i != behind; i = j->at[i].next) {
        struct quipper_join *join = &j->at[i];
        if (join->kind & JOIN_HUGE || join->pgoff == 0)
            become_part_of(join, &j->at[behind]);
        if (join->pgoff == 0) {
            join->pgoff = pgoff;
            join->changed = true;
        }
        pgoff += join->len;
    }
}

/* Called for the mapping `now` of a file if mappings that may be huge pages precede it. Makes them parts of this file
 * if they fill the gap before `now`. */
static void end_chunk(struct quipper_joins *j, const struct process *p, uint32_t now) {
    const struct quipper_join *first = &j->at[p->first], *last = &j->at[p->last], *file = &j->at[now];
    const struct quipper_join *before = p->before == NOTHING ? NULL : &j->at[p->before];
    const uint64_t length = last->start - first->start + last->len;
    uint64_t from = 0;
    if (before && goes_on(before, first) && may_be_one_file(before, first) && may_be_one_file(before, file))
        from = before->pgoff + before->len;
    if (goes_on(last, file) && may_be_one_file(last, file) && file->pgoff >= length && file->pgoff - length == from)
        fill_gap(j, p->first, now, from);
}

static void look_for_huge_page(struct quipper_joins *j, struct process *p, uint32_t now) {
    if (p->latest != NOTHING)
        j->at[p->latest].next = now;
    p->latest = now;
    if (!(j->at[now].kind & JOIN_HUGE)) {
        if (p->first != NOTHING)
            end_chunk(j, p, now);
        p->first = p->last = NOTHING;
        p->before = now;
    } else if (p->first != NOTHING && may_be_one_chunk(&j->at[p->last], &j->at[now])) {
        p->last = now;
    } else {
        p->before = p->first == NOTHING ? p->before : NOTHING;
        p->first = p->last = now;
    }
}

/* --- Joins. */

static bool are_one(const struct quipper_join *a, const struct quipper_join *b) {
    return !((a->kind | b->kind) & JOIN_DEVICE) && may_be_one_file(a, b) && are_alike_protected(a, b) &&
           goes_on_in_file(a, b) && goes_on(a, b);
}

static void join_to(struct quipper_joins *j, struct process *p, uint32_t now) {
    struct quipper_join *before = p->latest == NOTHING ? NULL : &j->at[p->latest], *join = &j->at[now];
    if (!before || !are_one(before, join)) {
        p->latest = now;
        return;
    }
    if (before->kind & JOIN_HUGE && !(join->kind & JOIN_HUGE)) {
        before->pgoff = join->pgoff - before->len;
        become_part_of(before, join);
    }
    before->len += join->len;
    before->changed = join->joined = true;
}

/* --- All mappings. */

static pfr_status put_in_order(struct quipper_joins *j, bool sorted, pfr_error *err) {
    struct radix_item *items = mem_alloc(j->memory, j->count, 2 * sizeof *items);
    j->order = items ? mem_alloc(j->memory, j->count, sizeof *j->order) : NULL;
    if (!j->order) {
        mem_free(j->memory, items, j->count, 2 * sizeof *items);
        return mem_fail(j->memory, err, "mappings");
    }
    for (size_t i = 0; i < j->count; i++)
        items[i] = (struct radix_item){sorted ? j->at[i].time : 0, (uint32_t)i};
    const struct radix_item *in_order = radix_sort(items, items + j->count, j->count);
    for (size_t i = 0; i < j->count; i++)
        j->order[i] = (uint32_t)in_order[i].value;
    mem_free(j->memory, items, j->count, 2 * sizeof *items);
    return PFR_OK;
}

struct processes {
    struct u64_map numbers; /* from pid to index in `at` */
    struct process *at;
    size_t count, room;
};

static struct process *process_of(struct processes *all, uint32_t pid) {
    bool is_new;
    uint64_t *number = u64_map_at(&all->numbers, pid, all->count, &is_new);
    if (!number)
        return NULL;
    if (is_new) {
        struct process *grown = mem_grow(all->numbers.memory, all->at, all->count, &all->room, 64, sizeof *grown);
        if (!grown)
            return NULL;
        all->at = grown;
        all->at[all->count++] = (struct process){NOTHING, NOTHING, NOTHING, NOTHING};
    }
    return &all->at[*number];
}

/* Calls `each` for every mapping, in output order, with the process that it belongs to. */
static pfr_status for_each(struct quipper_joins *j, bool timeless,
                           void (*each)(struct quipper_joins *, struct process *, uint32_t), pfr_error *err) {
    struct processes all = {0};
    struct process *p = NULL;
    size_t i = 0;
    u64_map_init(&all.numbers, j->memory);
    for (; i < j->count; i++) {
        const uint32_t now = j->order[i];
        if (timeless && j->at[now].time)
            continue;
        if (!(p = process_of(&all, j->at[now].pid)))
            break;
        each(j, p, now);
    }
    u64_map_free(&all.numbers);
    mem_free(j->memory, all.at, all.room, sizeof *all.at);
    return i == j->count ? PFR_OK : mem_fail(j->memory, err, "mappings");
}

/* Huge pages are searched only among mappings without a time, which existed when the recording began. */
pfr_status quipper_joins_settle(struct quipper_joins *j, bool sorted, pfr_error *err) {
    if (j->count == 0)
        return PFR_OK;
    PFR_TRY(put_in_order(j, sorted, err));
    PFR_TRY(for_each(j, true, look_for_huge_page, err));
    return for_each(j, false, join_to, err);
}

const struct quipper_join *quipper_joins_next(struct quipper_joins *j) {
    return j->returned < j->count && j->order ? &j->at[j->order[j->returned++]] : NULL;
}

/* --- Writing a mapping. */

/* The bytes that a name takes in a record, with its NUL and padded to 8 bytes. */
static uint32_t room_of(uint64_t length) {
    return (uint32_t)(length / 8 + 1) * 8;
}

static void put_identity(const struct quipper_join *join, struct pfr_rec_mmap2 *m) {
    m->maj = join->maj;
    m->min = join->min;
    m->ino = join->ino;
    m->ino_generation = join->ino_generation;
    m->build_id_size = join->build_id_size;
    m->build_id.at = join->build_id;
}

void quipper_joins_apply(const struct quipper_joins *j, const struct quipper_join *join, union any_layout *body,
                         uint32_t *size) {
    struct pfr_rec_mmap *m = &body->as_mmap;
    pfr_text *name = join->type == PFR_RECORD_MMAP2 ? &body->as_mmap2.filename : &m->filename;
    const struct intern_text text = intern_get(&j->names, join->name);
    if (!join->changed)
        return;
    m->len = join->len;
    m->pgoff = join->pgoff;
    if (join->moved)
        put_identity(join, &body->as_mmap2);
    *size += room_of(text.length) - room_of(name->length);
    name->at = (const char *)text.bytes;
    name->length = text.length;
}
