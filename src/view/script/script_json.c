/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON lines, see docs/json/script.schema.json: first a line with the version, then one object per sample, with a
 * member per field, and one object per other shown record:
 *
 *     {"type":"sample","event":"cpu-clock","comm":"work","pid":215,"tid":215,"time":1636972560123,...}
 *
 * Times are in ns as recorded. Names are escaped only by the rules of JSON, not as in the text form.
 */
#include "view/dump/dump_form.h"
#include "view/dump/dump_record.h"
#include "view/dump/dump_decode.h"
#include "view/script/script_json.h"
#include "view/script/script_address_fields.h"
#include "view/script/script_filter.h"
#include "view/script/script_frames.h"
#include "view/script/script_sample.h"

#include "base/text/json.h"
#include "model/stacks/chain.h"
#include "view/words/sample_text.h"
#include "wire/names.h"
#include "wire/record_bits.h"

#define DIGITS_OF_SOURCE 18u /* number of characters before the text of a data_src: "      1e05080021 |" */

typedef void json_printer(struct script *s, const struct moment *m, struct json *j);

static void put_number(struct json *j, const char *key, uint64_t value) {
    json_key(j, key);
    json_u64(j, value);
}

/* Writes an id of a process or CPU; -1 means that the id is unknown. */
static void put_signed(struct json *j, const char *key, uint32_t value) {
    json_key(j, key);
    json_i64(j, (int32_t)value);
}

static void put_address(struct json *j, const char *key, uint64_t value) {
    json_key(j, key);
    json_hex(j, value);
}

static void put_text(struct json *j, const char *key, const char *text) {
    json_key(j, key);
    json_text(j, text);
}

/* Writes the bytes of s->json_text from byte `from` on, without trailing blanks, as the string `key`. Clears
 * s->json_text. */
static void put_written_from(struct script *s, struct json *j, const char *key, size_t from) {
    size_t length;
    const char *text = out_bytes(&s->json_text.out, &length);
    from = from < length ? from : length;
    text = length ? text + from : "";
    length -= from;
    if (s->json_text.out.status < 0)
        script_fail(s, out_flush(&s->json_text.out, s->err));
    while (length > 0 && text[length - 1] == ' ')
        length--;
    json_key(j, key);
    json_string(j, text, length);
    out_clear(&s->json_text.out);
}

static void put_written(struct script *s, struct json *j, const char *key) {
    put_written_from(s, j, key, 0);
}

/* Runs a printer of the text form with s->json_text as its output. */
static void write_deferred(struct script *s, const struct moment *m, script_printer *print) {
    pfr_output *const to = s->to;
    s->to = &s->json_text;
    s->out = &s->json_text.out;
    print(s, m);
    s->to = to;
    s->out = &to->out;
}

/* --- Addresses */

static void put_line(struct json *j, const char *file, uint32_t line) {
    if (file) {
        json_key(j, "file");
        json_string(j, file, strlen(file));
    }
    if (line)
        put_number(j, "line", line);
}

/* Innermost first, each with file and line. */
static void put_inlined(struct script *s, const struct place *place, uint64_t address, unsigned form, struct json *j) {
    struct address_calls calls = {0};
    script_calls_at(s, place, address, &calls);
    if (form & NAME_LINE)
        put_line(j, calls.at.file, calls.at.line);
    if (!calls.count)
        return;
    json_key(j, "inlined");
    json_begin_array(j);
    for (uint32_t i = 0; i < calls.count; i++) {
        json_begin_object(j);
        json_key(j, "sym");
        json_string(j, calls.inlined[i].function, calls.inlined[i].length);
        if (form & NAME_LINE)
            put_line(j, calls.inlined[i].file, calls.inlined[i].line);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_lines(struct script *s, const struct place *place, uint64_t address, unsigned form, struct json *j) {
    struct address_line line = {0};
    if (form & NAME_INLINED) {
        put_inlined(s, place, address, form, j);
        return;
    }
    if (form & NAME_LINE)
        script_line_at(s, place, address, &line);
    put_line(j, line.file, line.line);
}

static void put_names(struct script *s, const struct place *place, uint64_t address, unsigned form, struct json *j) {
    struct address_name name = {0};
    const uint32_t object = place->ksymbol ? place->ksymbol->object : place->object;
    if (form & NAME_SYM)
        script_name_at(s, place, address, &name);
    if (name.text) {
        json_key(j, "sym");
        json_string(j, name.text, name.length);
    }
    if (name.text && (form & NAME_OFFSET))
        put_number(j, "symoff", name.ahead);
    if (place->map)
        put_lines(s, place, address, form, j);
    if (!(form & NAME_DSO) || object == NO_OBJECT)
        return;
    script_write_object_name(s, object, &s->json_text);
    put_written(s, j, "dso");
    if (place->map && place->offset != address) /* for the kernel and anonymous memory, offset and address are equal */
        put_address(j, "dso_offset", place->offset);
}

static void put_place(struct script *s, const struct moment *m, unsigned mode, const char *key, uint64_t address,
                      unsigned form, struct json *j) {
    struct place place;
    put_address(j, key, address);
    script_place(s, m, mode, address, &place);
    put_names(s, &place, address, form, j);
}

/* As in the text form, a chain with an unknown marker is empty. */
static void put_chain(struct script *s, const struct moment *m, struct json *j) {
    struct chain_walk walk = chain_begin(&m->sample->chain, m->rec->misc & PFR_CPUMODE_MASK, script_chain_most(s, m));
    uint64_t address;
    while (chain_next(&walk, &address)) {
        json_begin_object(j);
        put_place(s, m, walk.mode, "ip", address, m->event->chain_form, j);
        json_end_object(j);
        if (s->shared->options->stop_at && script_stops_at(s, m, walk.mode, address))
            return;
    }
}

static void json_ip(struct script *s, const struct moment *m, struct json *j) {
    put_place(s, m, m->rec->misc & PFR_CPUMODE_MASK, "ip", m->sample->ip, m->event->name_form, j);
    if (!m->event->chains)
        return;
    json_key(j, "chain");
    json_begin_array(j);
    put_chain(s, m, j);
    json_end_array(j);
}

static void put_branch_end(struct script *s, const struct moment *m, const char *key, uint64_t address,
                           struct json *j) {
    struct place place;
    json_key(j, key);
    json_begin_object(j);
    put_address(j, "ip", address);
    script_place_anywhere(s, m, address, &place);
    put_names(s, &place, address, m->event->name_form, j);
    json_end_object(j);
}

static void json_brstack(struct script *s, const struct moment *m, struct json *j) {
    struct pfr_rec_branch_entry entry;
    if (!SAMPLE_HAS(m->event->sample_type, S_BRANCH))
        return;
    json_key(j, "brstack");
    json_begin_array(j);
    pfr_items_iter it = pfr_items_begin(&m->sample->branch.entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK) {
        json_begin_object(j);
        put_branch_end(s, m, "from", entry.from, j);
        put_branch_end(s, m, "to", entry.to, j);
        words_branch_flags(&s->json_text, &entry);
        put_written(s, j, "flags");
        json_end_object(j);
    }
    json_end_array(j);
}

/* --- Thread, time, weight */

static void json_machine_pid(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    if (m->guest.machine_pid)
        put_signed(j, "machine_pid", m->guest.machine_pid);
}

static void json_vcpu(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    if (m->guest.machine_pid)
        put_signed(j, "vcpu", m->guest.vcpu);
}

static void json_comm(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    json_key(j, "comm");
    json_string(j, m->thread->comm, m->thread->comm_length);
}

static void json_pid(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_signed(j, "pid", m->pid);
}

static void json_tid(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_signed(j, "tid", m->tid);
}

static void json_cpu(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_signed(j, "cpu", m->cpu);
}

static void json_time(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_number(j, "time", m->time);
}

static void json_tod(struct script *s, const struct moment *m, struct json *j) {
    write_deferred(s, m, print_tod);
    put_written(s, j, "tod");
}

static void json_misc(struct script *s, const struct moment *m, struct json *j) {
    words_misc(&s->json_text, m->rec->type, m->misc);
    put_written(s, j, "misc");
}

static void json_period(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_number(j, "period", m->period);
}

/* --- Other sampled values */

static void json_addr(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_address(j, "addr", m->sample->addr);
}

static void json_raw(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    if (!SAMPLE_HAS(m->event->sample_type, S_RAW))
        return;
    json_key(j, "raw");
    json_hex_bytes(j, m->sample->raw.data.at, m->sample->raw.data.length);
}

static void json_trace(struct script *s, const struct moment *m, struct json *j) {
    write_deferred(s, m, print_trace);
    put_written(s, j, "trace");
    json_raw(s, m, j);
}

static void json_data_src(struct script *s, const struct moment *m, struct json *j) {
    size_t widest = 0;
    put_address(j, "data_src", m->sample->data_src);
    words_data_src(&s->json_text, m->sample->data_src, &widest);
    put_written_from(s, j, "data_src_text", DIGITS_OF_SOURCE);
}

static void json_weight(struct script *s, const struct moment *m, struct json *j) {
    const bool whole = SAMPLE_HAS(m->event->sample_type, S_WEIGHT);
    (void)s;
    put_number(j, "weight", whole ? m->sample->weight : weight_itself(m->sample->weight_struct));
}

static void json_ins_lat(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_number(j, "ins_lat", weight_second(m->sample->weight_struct));
}

static void json_retire_lat(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_number(j, "retire_lat", weight_third(m->sample->weight_struct));
}

static void put_registers(struct script *s, struct json *j, const char *key, uint64_t mask, const pfr_u64s *values,
                          uint64_t abi) {
    const unsigned set = words_register_set(s->shared->arch, strlen(s->shared->arch));
    if (abi == 0)
        return;
    json_key(j, key);
    json_begin_object(j);
    put_number(j, "abi", abi);
    for (uint64_t i = 0; i < values->count && mask; i++, mask &= mask - 1)
        put_address(j, words_register_name(set, (unsigned)__builtin_ctzll(mask)), pfr_u64s_at(values, i));
    json_end_object(j);
}

static void json_iregs(struct script *s, const struct moment *m, struct json *j) {
    put_registers(s, j, "iregs", m->event->event->attr.sample_regs_intr, &m->sample->regs_intr.regs,
                  m->sample->regs_intr.abi);
}

static void json_uregs(struct script *s, const struct moment *m, struct json *j) {
    put_registers(s, j, "uregs", m->event->event->attr.sample_regs_user, &m->sample->regs_user.regs,
                  m->sample->regs_user.abi);
}

static void json_phys_addr(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_address(j, "phys_addr", m->sample->phys_addr);
}

static void json_data_page_size(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_number(j, "data_page_size", m->sample->data_page_size);
}

static void json_code_page_size(struct script *s, const struct moment *m, struct json *j) {
    (void)s;
    put_number(j, "code_page_size", m->sample->code_page_size);
}

static void json_cgroup(struct script *s, const struct moment *m, struct json *j) {
    const uint32_t path = state_cgroup(s->shared->state, m->sample->cgroup, m->key);
    json_key(j, "cgroup");
    if (path == NO_VALUE) {
        json_null(j);
        return;
    }
    const struct intern_text text = intern_get(&s->shared->state->names, path);
    json_string(j, text.bytes, text.length);
}

/* sym, symoff and dso have no printers: they are members of each address. */
static const struct {
    json_printer *print;
    bool begins; /* also printed for other records */
} printers[SCRIPT_FIELDS] = {
    [F_MACHINE_PID] = {json_machine_pid, true},
    [F_VCPU] = {json_vcpu, true},
    [F_COMM] = {json_comm, true},
    [F_PID] = {json_pid, true},
    [F_TID] = {json_tid, true},
    [F_CPU] = {json_cpu, true},
    [F_MISC] = {json_misc, true},
    [F_TOD] = {json_tod, true},
    [F_TIME] = {json_time, true},
    [F_PERIOD] = {json_period, false},
    [F_TRACE] = {json_trace, false},
    [F_ADDR] = {json_addr, false},
    [F_DATA_SRC] = {json_data_src, false},
    [F_WEIGHT] = {json_weight, false},
    [F_INS_LAT] = {json_ins_lat, false},
    [F_RETIRE_LAT] = {json_retire_lat, false},
    [F_IP] = {json_ip, false},
    [F_IREGS] = {json_iregs, false},
    [F_UREGS] = {json_uregs, false},
    [F_BRSTACK] = {json_brstack, false},
    [F_BPF_OUTPUT] = {json_raw, false},
    [F_PHYS_ADDR] = {json_phys_addr, false},
    [F_DATA_PAGE_SIZE] = {json_data_page_size, false},
    [F_CODE_PAGE_SIZE] = {json_code_page_size, false},
    [F_CGROUP] = {json_cgroup, false},
};

static void put_fields(struct script *s, const struct moment *m, bool begin_only, struct json *j) {
    for (uint64_t left = m->event->fields; left; left &= left - 1) {
        const unsigned f = (unsigned)__builtin_ctzll(left);
        if (printers[f].print && (printers[f].begins || !begin_only))
            printers[f].print(s, m, j);
    }
}

void script_json_begin(struct script *s) {
    struct json j = json_on(s->out, JSON_LINE);
    json_begin_object(&j);
    put_text(&j, "type", "head");
    put_number(&j, "version", 1);
    json_end_object(&j);
    json_end_line(&j);
}

void script_json_sample(struct script *s, const struct moment *m) {
    struct json j = json_on(s->out, JSON_LINE);
    json_begin_object(&j);
    put_text(&j, "type", "sample");
    if (m->event->fields & FIELD(F_EVENT))
        put_text(&j, "event", m->event->event->name);
    put_fields(s, m, false, &j);
    json_end_object(&j);
    json_end_line(&j);
}

/* Writes the line of a record other than a sample. Its member `record` is formatted like the JSON of perfray dump. */
void script_json_line(struct script *s, const struct moment *m) {
    struct json j = json_on(s->out, JSON_LINE);
    size_t length;
    json_begin_object(&j);
    put_text(&j, "type", "record");
    if (m->thread)
        put_fields(s, m, true, &j);
    dump_show_record(s->lines, m->rec, dump_layout_of(s->lines, m->rec->type));
    const char *record = out_bytes(&s->json_text.out, &length);
    if (s->json_text.out.status < 0)
        script_fail(s, out_flush(&s->json_text.out, s->err));
    json_key(&j, "record");
    json_made(&j, length ? record : "{}", length ? length - 1 : 2);
    out_clear(&s->json_text.out);
    json_end_object(&j);
    json_end_line(&j);
}
