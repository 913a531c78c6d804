/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The features BPF_PROG_INFO and BPF_BTF. perf prints both sorted by id, and omits them if the byte order of the
 * recording is not that of this machine.
 */
#include <stdlib.h>
#include "base/memory/cursor.h"
#include "view/info/info_bpf.h"
#include "view/info/info_feature.h"
#include "wire/feature_bits.h"

static bool is_foreign(const pfr_reader *reader) {
    return pfr_get_header(reader)->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* The entries of BPF_BTF, sorted by id; entries with equal ids keep the feature's order. */
struct btf_list {
    struct memory *memory;
    struct btf *entries;
    size_t count, room;
};

static int by_btf_id(const void *a, const void *b) {
    const struct btf *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->order > right->order) - (left->order < right->order);
}

static struct btf_list list_btf(const struct feature_scene *scene) {
    struct btf_list list = {.memory = &scene->to->memory};
    const pfr_feature *feature = pfr_find_feature(scene->reader, BIT_BPF_BTF, NULL);
    struct pfr_rec_feature_bpf_btf body;
    struct pfr_rec_bpf_btf_entry entry;
    if (!feature || !decode_feature(scene, feature, &body, sizeof body))
        return list;
    list.room = body.entries.count;
    list.entries = mem_alloc(list.memory, list.room, sizeof *list.entries);
    if (!list.entries)
        return list;
    EACH_PART(&body.entries, entry) {
        list.entries[list.count] = (struct btf){.id = entry.id, .order = (uint32_t)list.count, .data = entry.data};
        list.count++;
    }
    qsort(list.entries, list.count, sizeof *list.entries, by_btf_id);
    return list;
}

static void free_btf(struct btf_list *list) {
    for (size_t i = 0; i < list->count; i++)
        btf_free(&list->entries[i], list->memory);
    mem_free(list->memory, list->entries, list->room, sizeof *list->entries);
}

/* Returns the BTF with this id, with its types indexed; NULL if it was not recorded. */
static const struct btf *find_btf(struct btf_list *list, uint32_t id, bool swap) {
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list->entries[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (id == 0 || low == list->count || list->entries[low].id != id || list->entries[low].data.length == 0)
        return NULL;
    btf_index(&list->entries[low], list->memory, swap);
    return &list->entries[low];
}

static void say_tag(pfr_output *to, const uint8_t *tag) {
    say(to, "bpf_prog_");
    out_hex_bytes(&to->out, tag, 8);
}

/* Prints "bpf_prog_TAG_NAME": NAME is the name of the function in the BTF, or else the name of the program. */
static void say_part_name(const struct feature_scene *scene, const struct bpf_program *program, const struct btf *btf,
                          uint32_t part) {
    pfr_text name = {0};
    if (btf && program->functions) {
        const uint8_t *function = program->functions + (uint64_t)part * program->function_size;
        name = btf_type_name(btf, load_u32(function + 4, program->swap));
    } else if (program->parts == 1) {
        name = program->name;
    } else {
        name = (pfr_text){.at = "F", .length = 1, .room = 1};
    }
    say_tag(scene->to, program->tags + 8ull * part);
    if (name.length)
        say(scene->to, "_");
    say_view(scene->to, &name);
}

static void say_part(const struct feature_scene *scene, const struct bpf_program *program, const struct btf *btf,
                     uint32_t part) {
    say_part_name(scene, program, btf, part);
    say(scene->to, " addr 0x%" PRIx64 " size %" PRIu32 "\n", load_u64(program->addresses + 8ull * part, program->swap),
        load_u32(program->lengths + 4ull * part, program->swap));
}

static void say_program(const struct feature_scene *scene, const struct bpf_program *program, struct btf_list *types) {
    if (!program->addresses || !program->lengths || !program->tags)
        return;
    const struct btf *btf = find_btf(types, program->btf_id, program->swap);
    say(scene->to, "# bpf_prog_info %" PRIu32 ":%s", program->id, program->parts == 1 ? " " : "\n");
    for (uint32_t part = 0; part < program->parts; part++) {
        if (program->parts > 1)
            say(scene->to, "# \tsub_prog %" PRIu32 ": ", part);
        say_part(scene, program, btf, part);
    }
}

static int by_program_id(const void *a, const void *b) {
    const uint32_t left = ((const struct bpf_program *)a)->id, right = ((const struct bpf_program *)b)->id;
    return (left > right) - (left < right);
}

static void say_programs(const struct feature_scene *scene, const struct pfr_rec_feature_bpf_prog_info *body) {
    struct memory *memory = &scene->to->memory;
    struct bpf_program *programs = mem_alloc(memory, body->programs.count, sizeof *programs);
    struct pfr_rec_bpf_prog_info_entry entry;
    size_t count = 0;
    if (!programs)
        return;
    struct btf_list types = list_btf(scene);
    EACH_PART(&body->programs, entry)
    bpf_program_read(&entry, is_foreign(scene->reader), &programs[count++]);
    qsort(programs, count, sizeof *programs, by_program_id);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || programs[i].id != programs[i - 1].id)
            say_program(scene, &programs[i], &types);
    free_btf(&types);
    mem_free(memory, programs, body->programs.count, sizeof *programs);
}

void say_bpf_prog_info(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_bpf_prog_info body;
    if (!is_foreign(scene->reader) && decode_feature(scene, feature, &body, sizeof body))
        say_programs(scene, &body);
}

static int by_number(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

void say_bpf_btf(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_bpf_btf body;
    struct pfr_rec_bpf_btf_entry entry;
    if (is_foreign(scene->reader) || !decode_feature(scene, feature, &body, sizeof body))
        return;
    uint32_t *ids = mem_alloc(&scene->to->memory, body.entries.count, sizeof *ids);
    size_t count = 0;
    if (!ids)
        return;
    EACH_PART(&body.entries, entry)
    ids[count++] = entry.id;
    qsort(ids, count, sizeof *ids, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            say(scene->to, "# btf info of id %" PRIu32 "\n", ids[i]);
    mem_free(&scene->to->memory, ids, body.entries.count, sizeof *ids);
}
