/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BPF programs loaded in the kernel, read with bpf(2). Their compiled code is written as KSYMBOL and BPF_EVENT records,
 * like those that the kernel writes for programs loaded later; the programs themselves are stored in the features
 * BPF_PROG_INFO and BPF_BTF. Programs loaded during the recording are added to the features at the end. Without
 * permission, no programs are found.
 *
 * bpf_prog_info has pointers to arrays. A first call returns the lengths of the arrays, a second call fills the arrays.
 * In the file, the pointers are offsets into the bytes after bpf_prog_info.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/io/output.h"
#include "record/contents/bpf_programs.h"
#include "record/contents/machine_feature.h"
#include "record/rings/put_record.h"
#include "wire/feature_bits.h"

#define INFO_BYTES 232u /* size of bpf_prog_info in Linux 6.1: readers refuse larger structs */
#define DATA_MOST ((uint64_t)16 << 20)
#define PROGRAMS_MOST 65536u

enum { KSYM_BPF = 1, PROGRAM_LOADED = 1 };

struct program {
    struct bpf_prog_info info; /* pointers into `data` */
    uint8_t *data;
    uint64_t length, arrays;
    const uint8_t *types; /* BTF, or NULL */
    uint32_t types_length;
};

static int ask(int command, union bpf_attr *attr) {
    return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}

static int open_id(int command, uint32_t id) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_id = id; /* prog_id and btf_id have the same offset */
    return ask(command, &attr);
}

static bool ask_info(int fd, void *info, uint32_t size) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.info.bpf_fd = (uint32_t)fd;
    attr.info.info_len = size;
    attr.info.info = (uintptr_t)info;
    return ask(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0;
}

/* --- a program's arrays --- */

#define AT(member) offsetof(struct bpf_prog_info, member)

static const struct {
    unsigned bit;
    size_t pointer, count, size_at; /* offsets in bpf_prog_info; size_at 0: the size of an element is `size` */
    uint32_t size;
} arrays[] = {
    {0, AT(jited_prog_insns), AT(jited_prog_len), 0, 1},
    {3, AT(jited_ksyms), AT(nr_jited_ksyms), 0, 8},
    {4, AT(jited_func_lens), AT(nr_jited_func_lens), 0, 4},
    {5, AT(func_info), AT(nr_func_info), AT(func_info_rec_size), 0},
    {6, AT(line_info), AT(nr_line_info), AT(line_info_rec_size), 0},
    {7, AT(jited_line_info), AT(nr_jited_line_info), AT(jited_line_info_rec_size), 0},
    {8, AT(prog_tags), AT(nr_prog_tags), 0, 8},
};
#define ARRAYS (sizeof arrays / sizeof *arrays)

static uint32_t word_at(const struct bpf_prog_info *info, size_t at) {
    uint32_t word;
    memcpy(&word, (const uint8_t *)info + at, sizeof word);
    return word;
}

static void set_pointer(struct bpf_prog_info *info, size_t i, uint64_t value) {
    memcpy((uint8_t *)info + arrays[i].pointer, &value, sizeof value);
}

static uint64_t bytes_of(const struct bpf_prog_info *info, size_t i) {
    const uint64_t size = arrays[i].size_at ? word_at(info, arrays[i].size_at) : arrays[i].size;
    return (word_at(info, arrays[i].count) * size + 7) & ~(uint64_t)7;
}

/* Prepares the struct for the second call: it must have the counts of the arrays, and zeros in all other members. */
static void keep_counts(const struct bpf_prog_info *from, struct bpf_prog_info *to) {
    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < ARRAYS; i++) {
        memcpy((uint8_t *)to + arrays[i].count, (const uint8_t *)from + arrays[i].count, 4);
        if (arrays[i].size_at)
            memcpy((uint8_t *)to + arrays[i].size_at, (const uint8_t *)from + arrays[i].size_at, 4);
    }
}

static bool read_arrays(pfr_recorder *r, int fd, struct program *p) {
    struct bpf_prog_info counts;
    uint64_t at = 0;
    keep_counts(&p->info, &counts);
    for (size_t i = 0; i < ARRAYS; i++)
        p->length += bytes_of(&counts, i);
    p->data = p->length <= DATA_MOST ? mem_zeroed(&r->memory, p->length ? p->length : 1, 1) : NULL;
    for (size_t i = 0; p->data && i < ARRAYS; i++) {
        set_pointer(&counts, i, bytes_of(&counts, i) ? (uintptr_t)p->data + at : 0);
        at += bytes_of(&counts, i);
        p->arrays |= 1ull << arrays[i].bit;
    }
    p->info = counts;
    return p->data && ask_info(fd, &p->info, sizeof p->info);
}

static const void *array_at(const struct program *p, size_t pointer, size_t count, uint32_t index, uint32_t size) {
    uint64_t at;
    memcpy(&at, (const uint8_t *)&p->info + pointer, sizeof at);
    const uint64_t start = (uintptr_t)p->data, end = start + p->length;
    const bool inside =
        at >= start && at <= end && index < word_at(&p->info, count) && ((uint64_t)index + 1) * size <= end - at;
    return inside ? (const uint8_t *)(uintptr_t)at + (uint64_t)index * size : NULL;
}

/* --- types: linux/btf.h --- */

static const char *string_at(const struct program *p, const struct btf_header *head, uint32_t offset) {
    const uint64_t start = (uint64_t)head->hdr_len + head->str_off, end = start + head->str_len;
    if (end > p->types_length || offset >= head->str_len || p->types[end - 1] != '\0')
        return NULL;
    return (const char *)p->types + start + offset;
}

/* Number of bytes that follow a type of this kind. */
static uint64_t more_of(const struct btf_type *type) {
    const uint64_t count = BTF_INFO_VLEN(type->info);
    switch (BTF_INFO_KIND(type->info)) {
    case BTF_KIND_INT:
    case BTF_KIND_VAR:
    case BTF_KIND_DECL_TAG:
        return 4;
    case BTF_KIND_ARRAY:
        return sizeof(struct btf_array);
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_DATASEC:
    case BTF_KIND_ENUM64:
        return count * 12;
    case BTF_KIND_ENUM:
    case BTF_KIND_FUNC_PROTO:
        return count * 8;
    default:
        return 0;
    }
}

static const char *name_of_type(const struct program *p, uint32_t id) {
    struct btf_header head;
    struct btf_type type;
    if (!p->types || p->types_length < sizeof head)
        return NULL;
    memcpy(&head, p->types, sizeof head);
    uint64_t at = (uint64_t)head.hdr_len + head.type_off;
    const uint64_t end = at + head.type_len;
    for (uint32_t i = 1; end <= p->types_length && at + sizeof type <= end; i++) {
        memcpy(&type, p->types + at, sizeof type);
        if (i == id)
            return string_at(p, &head, type.name_off);
        at += sizeof type + more_of(&type);
    }
    return NULL;
}

/* --- records --- */

static const char *name_of_part(const struct program *p, uint32_t part) {
    const void *const func = array_at(p, AT(func_info), AT(nr_func_info), part, p->info.func_info_rec_size);
    uint32_t words[2] = {0};
    if (func && p->info.func_info_rec_size >= sizeof words)
        memcpy(words, func, sizeof words);
    const char *const name = words[1] ? name_of_type(p, words[1]) : NULL;
    if (name)
        return name;
    return p->info.nr_jited_ksyms == 1 ? p->info.name : "F";
}

static pfr_status put_part(pfr_recorder *r, const struct program *p, uint32_t part, pfr_error *err) {
    const uint8_t *const tag = array_at(p, AT(prog_tags), AT(nr_prog_tags), part, 8);
    const void *const start = array_at(p, AT(jited_ksyms), AT(nr_jited_ksyms), part, 8);
    const void *const length = array_at(p, AT(jited_func_lens), AT(nr_jited_func_lens), part, 4);
    char name[300] = "bpf_prog_";
    if (!tag || !start || !length)
        return PFR_OK;
    for (size_t i = 0; i < 8; i++)
        snprintf(name + 9 + 2 * i, 3, "%02x", tag[i]);
    const char *const own = name_of_part(p, part);
    snprintf(name + 25, sizeof name - 25, "%s%.256s", *own ? "_" : "", own);
    struct pfr_rec_ksymbol symbol = {.ksym_type = KSYM_BPF, .name = {.at = name, .length = (uint32_t)strlen(name)}};
    memcpy(&symbol.addr, start, 8);
    memcpy(&symbol.len, length, 4);
    return symbol.addr ? put_record(r, PFR_RECORD_KSYMBOL, 0, &symbol, sizeof symbol, err) : PFR_OK;
}

static pfr_status put_records(pfr_recorder *r, const struct program *p, pfr_error *err) {
    for (uint32_t i = 0; i < p->info.nr_jited_ksyms; i++)
        PFR_TRY(put_part(r, p, i, err));
    const struct pfr_rec_bpf_event event = {
        .type = PROGRAM_LOADED, .id = p->info.id, .tag = {.at = p->info.tag, .length = sizeof p->info.tag}};
    return put_record(r, PFR_RECORD_BPF_EVENT, 0, &event, sizeof event, err);
}

/* --- features --- */

static void keep_program(struct bpf_seen *seen, const struct program *p) {
    struct bpf_prog_info info = p->info;
    uint64_t at = 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        set_pointer(&info, i, at);
        at += bytes_of(&info, i);
    }
    feature_u32(&seen->programs, INFO_BYTES);
    feature_u32(&seen->programs, (uint32_t)p->length);
    feature_u64(&seen->programs, p->arrays);
    out_write(&seen->programs, &info, INFO_BYTES);
    out_write(&seen->programs, p->data, p->length);
    seen->nr_programs++;
}

static void keep_types(struct bpf_seen *seen, const struct program *p) {
    feature_u32(&seen->types, p->info.btf_id);
    feature_u32(&seen->types, p->types_length);
    out_write(&seen->types, p->types, p->types_length);
    seen->nr_types++;
    seen->last_types = p->info.btf_id;
}

/* The types of a program; NULL if it has no types or they cannot be read. */
static uint8_t *read_types(pfr_recorder *r, const struct program *p, uint32_t *length) {
    struct bpf_btf_info info = {0};
    const int fd = p->info.btf_id ? open_id(BPF_BTF_GET_FD_BY_ID, p->info.btf_id) : -1;
    uint8_t *bytes = NULL;
    *length = 0;
    if (fd < 0)
        return NULL;
    if (ask_info(fd, &info, sizeof info) && info.btf_size && info.btf_size <= DATA_MOST)
        bytes = mem_zeroed(&r->memory, info.btf_size, 1);
    *length = info.btf_size;
    info = (struct bpf_btf_info){.btf = (uintptr_t)bytes, .btf_size = *length};
    if (bytes && !ask_info(fd, &info, sizeof info)) {
        mem_free(&r->memory, bytes, *length, 1);
        bytes = NULL;
    }
    close(fd);
    return bytes;
}

/* --- all --- */

static pfr_status take_program(pfr_recorder *r, struct program *p, bool write_record, pfr_error *err) {
    uint8_t *const types = read_types(r, p, &p->types_length);
    pfr_status status = PFR_OK;
    p->types = types;
    keep_program(&r->bpf, p);
    if (types && p->info.btf_id > r->bpf.last_types) /* ids increase; programs loaded together share one BTF */
        keep_types(&r->bpf, p);
    if (write_record)
        status = put_records(r, p, err);
    mem_free(&r->memory, types, p->types_length, 1);
    return status;
}

static pfr_status take_id(pfr_recorder *r, uint32_t id, bool write_record, pfr_error *err) {
    struct program p = {.length = 0};
    pfr_status status = PFR_OK;
    const int fd = open_id(BPF_PROG_GET_FD_BY_ID, id);
    if (fd < 0)
        return PFR_OK;
    if (ask_info(fd, &p.info, sizeof p.info) && read_arrays(r, fd, &p))
        status = take_program(r, &p, write_record, err);
    mem_free(&r->memory, p.data, p.length ? p.length : 1, 1);
    close(fd);
    return status;
}

static pfr_status take_new(pfr_recorder *r, bool write_record, pfr_error *err) {
    union bpf_attr attr;
    for (uint32_t i = 0; i < PROGRAMS_MOST; i++) {
        memset(&attr, 0, sizeof attr);
        attr.start_id = r->bpf.last_program;
        if (ask(BPF_PROG_GET_NEXT_ID, &attr) != 0)
            return PFR_OK;
        r->bpf.last_program = attr.next_id;
        PFR_TRY(take_id(r, attr.next_id, write_record, err));
    }
    return PFR_OK;
}

static pfr_status put_feature(pfr_recorder *r, uint32_t bit, uint32_t count, struct output *rows, pfr_error *err) {
    struct output payload;
    size_t length;
    const char *const bytes = out_bytes(rows, &length);
    out_open_memory(&payload, &r->memory);
    feature_u32(&payload, count);
    if (length)
        out_write(&payload, bytes, length);
    if (rows->status < 0)
        payload.status = rows->status;
    const pfr_status status = machine_feature(r, bit, &payload, err);
    out_close(&payload, NULL);
    return status;
}

static pfr_status put_features(pfr_recorder *r, pfr_error *err) {
    PFR_TRY(put_feature(r, BIT_BPF_PROG_INFO, r->bpf.nr_programs, &r->bpf.programs, err));
    return put_feature(r, BIT_BPF_BTF, r->bpf.nr_types, &r->bpf.types, err);
}

void bpf_forget(pfr_recorder *r) {
    if (r->bpf.is_open) {
        out_close(&r->bpf.programs, NULL);
        out_close(&r->bpf.types, NULL);
    }
    r->bpf = (struct bpf_seen){.is_open = false};
}

pfr_status bpf_put_all(pfr_recorder *r, pfr_error *err) {
    bpf_forget(r);
    out_open_memory(&r->bpf.programs, &r->memory);
    out_open_memory(&r->bpf.types, &r->memory);
    r->bpf.is_open = true;
    PFR_TRY(r->options.no_bpf ? PFR_OK : take_new(r, true, err));
    return put_features(r, err);
}

pfr_status bpf_put_late(pfr_recorder *r, pfr_error *err) {
    const uint32_t before = r->bpf.nr_programs;
    if (!r->bpf.is_open || r->options.no_bpf || strcmp(r->file.path, "-") == 0)
        return PFR_OK;
    PFR_TRY(take_new(r, false, err));
    return r->bpf.nr_programs > before ? put_features(r, err) : PFR_OK;
}
