/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads names from BTF, and program facts from bpf_prog_info. BTF is a header with two sections: types, numbered from
 * 1, whose sizes depend on their kind and count; and strings, which types refer to by offset.
 */
#include "base/memory/cursor.h"
#include "view/info/info_bpf.h"

#define BTF_MAGIC 0xeb9fu
#define BTF_HEADER 24u
#define BTF_TYPE 12u

/* Offsets in struct bpf_prog_info. */
enum {
    AT_TYPE = 0,
    AT_ID = 4,
    AT_TAG = 8,
    AT_JITED_SIZE = 16,
    AT_XLATED_SIZE = 20,
    AT_NAME = 64,
    NAME_ROOM = 16,
    AT_NR_KSYMS = 104,
    AT_NR_LENGTHS = 108,
    AT_KSYMS = 112,
    AT_LENGTHS = 120,
    AT_BTF_ID = 128,
    AT_FUNCTION_SIZE = 132,
    AT_FUNCTIONS = 136,
    AT_NR_FUNCTIONS = 144,
    AT_NR_TAGS = 180,
    AT_TAGS = 184
};

static uint32_t word_at(const pfr_bytes *info, uint64_t at, bool swap) {
    return info->length >= at + 4 ? load_u32(info->at + at, swap) : 0;
}

/* The array that the pointer at offset `at` refers to, or NULL. */
static const uint8_t *array_at(const struct pfr_rec_bpf_prog_info_entry *entry, uint64_t at, uint64_t count,
                               uint64_t size, bool swap) {
    if (entry->info.length < at + 8 || count == 0)
        return NULL;
    const uint64_t offset = load_u64(entry->info.at + at, swap);
    const bool fits = offset <= entry->data.length && size > 0 && count <= (entry->data.length - offset) / size;
    return fits ? entry->data.at + offset : NULL;
}

static pfr_text name_in(const pfr_bytes *info) {
    if (info->length < AT_NAME + NAME_ROOM)
        return (pfr_text){0};
    const char *name = (const char *)info->at + AT_NAME;
    return (pfr_text){.at = name, .length = (uint32_t)strnlen(name, NAME_ROOM), .room = NAME_ROOM};
}

static void read_parts(const struct pfr_rec_bpf_prog_info_entry *entry, bool swap, struct bpf_program *program) {
    const pfr_bytes *info = &entry->info;
    const uint32_t parts = word_at(info, AT_NR_KSYMS, swap);
    if (parts != word_at(info, AT_NR_LENGTHS, swap) || parts != word_at(info, AT_NR_TAGS, swap))
        return;
    program->parts = parts;
    program->addresses = array_at(entry, AT_KSYMS, parts, 8, swap);
    program->lengths = array_at(entry, AT_LENGTHS, parts, 4, swap);
    program->tags = array_at(entry, AT_TAGS, parts, 8, swap);
    program->function_size = word_at(info, AT_FUNCTION_SIZE, swap);
    if (program->function_size >= 8 && word_at(info, AT_NR_FUNCTIONS, swap) >= parts)
        program->functions = array_at(entry, AT_FUNCTIONS, parts, program->function_size, swap);
}

#define PROGRAM_TYPES 0x10000u /* above any real program type */

/* struct bpf_prog_info keeps the byte order of the recorded machine even if the recording was converted. Program types
   are small numbers, so their value shows the byte order. */
static bool is_other_order(const pfr_bytes *info, bool swap) {
    const uint32_t type = word_at(info, AT_TYPE, swap);
    return type >= PROGRAM_TYPES && __builtin_bswap32(type) < PROGRAM_TYPES;
}

void bpf_program_read(const struct pfr_rec_bpf_prog_info_entry *entry, bool swap, struct bpf_program *program) {
    const pfr_bytes *info = &entry->info;
    swap ^= is_other_order(info, swap);
    *program = (struct bpf_program){
        .id = word_at(info, AT_ID, swap),
        .type = word_at(info, AT_TYPE, swap),
        .jited_size = word_at(info, AT_JITED_SIZE, swap),
        .xlated_size = word_at(info, AT_XLATED_SIZE, swap),
        .btf_id = word_at(info, AT_BTF_ID, swap),
        .tag = info->length >= AT_TAG + 8 ? info->at + AT_TAG : NULL,
        .name = name_in(info),
        .swap = swap,
    };
    read_parts(entry, swap, program);
}

/* Size of the data after the 12 bytes of a type, by kind: a fixed part, and `each` bytes for each of `vlen` members. */
static uint64_t bytes_behind(uint32_t kind, uint32_t vlen) {
    static const uint8_t each[] = {[4] = 12, [5] = 12, [6] = 8, [13] = 8, [15] = 12, [19] = 12};
    static const uint8_t fixed[] = {[1] = 4, [3] = 12, [14] = 4, [17] = 4, [19] = 0};
    if (kind >= sizeof each)
        return 0;
    return fixed[kind] + (uint64_t)each[kind] * vlen;
}

/* Gets a section of the BTF, whose offset and length are at offset `at` of the header. */
static bool section_at(const pfr_bytes *btf, uint64_t at, bool swap, pfr_bytes *section) {
    const uint64_t start = load_u32(btf->at + 4, swap);
    const uint64_t from = start + load_u32(btf->at + at, swap), length = load_u32(btf->at + at + 4, swap);
    if (from > btf->length || length > btf->length - from)
        return false;
    *section = (pfr_bytes){btf->at + from, length};
    return true;
}

static pfr_text string_at(const pfr_bytes *strings, uint64_t at) {
    if (at >= strings->length)
        return (pfr_text){0};
    const char *text = (const char *)strings->at + at;
    const uint64_t room = strings->length - at;
    const size_t length = strnlen(text, room < BTF_NAME_MAX ? room : BTF_NAME_MAX);
    return (pfr_text){.at = text, .length = (uint32_t)length, .room = (uint32_t)length};
}

static bool find_sections(struct btf *btf) {
    const pfr_bytes *data = &btf->data;
    return data->length >= BTF_HEADER && load_u16(data->at, btf->swap) == BTF_MAGIC &&
           section_at(data, 8, btf->swap, &btf->type_data) && section_at(data, 16, btf->swap, &btf->strings);
}

void btf_index(struct btf *btf, struct memory *memory, bool swap) {
    if (btf->indexed)
        return;
    btf->indexed = true;
    btf->swap = swap;
    if (!find_sections(btf))
        return;
    const pfr_bytes *types = &btf->type_data;
    btf->types_room = types->length / BTF_TYPE;
    btf->types = mem_alloc(memory, btf->types_room, sizeof *btf->types);
    uint64_t at = 0;
    while (btf->types && at <= types->length && types->length - at >= BTF_TYPE) {
        btf->types[btf->nr_types++] = (uint32_t)at;
        const uint32_t info = load_u32(types->at + at + 4, swap);
        at += BTF_TYPE + bytes_behind(info >> 24 & 0x1f, info & 0xffff);
    }
}

void btf_free(struct btf *btf, struct memory *memory) {
    mem_free(memory, btf->types, btf->types_room, sizeof *btf->types);
    *btf = (struct btf){0};
}

pfr_text btf_type_name(const struct btf *btf, uint32_t type_id) {
    if (type_id == 0 || type_id > btf->nr_types)
        return (pfr_text){0};
    return string_at(&btf->strings, load_u32(btf->type_data.at + btf->types[type_id - 1], btf->swap));
}
