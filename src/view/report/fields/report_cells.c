/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields available in every recording. As in perf, a symbol is identified by its bounds and the short name of its
 * object; an address without a name is identified only by the address, whatever its object.
 */
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_cells.h"

#include "base/text/text.h"

#define UNKNOWN "[unknown]"
#define TIME_DIGITS 6u

/* Signed comparison, as in perf, which subtracts addresses: kernel addresses sort first. */
int collate_addresses(uint64_t a, uint64_t b) {
    const int64_t x = (int64_t)a, y = (int64_t)b;
    return (x > y) - (x < y);
}

int collate_largest(const struct report *r, uint64_t a, uint64_t b) {
    (void)r;
    return (a < b) - (a > b);
}

int collate_texts(const struct report *r, uint64_t a, uint64_t b) {
    if (a == b || a == NO_TEXT || b == NO_TEXT)
        return (b == NO_TEXT) - (a == NO_TEXT);
    return strcmp(intern_chars(&r->profile->texts, (uint32_t)a), intern_chars(&r->profile->texts, (uint32_t)b));
}

void write_text_cell(const struct report *r, uint64_t id, pfr_output *to, const char *none) {
    if (id == NO_TEXT) {
        out_text(&to->out, none);
        return;
    }
    const struct intern_text text = intern_get(&r->profile->texts, (uint32_t)id);
    print_name(to, text.bytes, text.length);
}

/* --- comm, pid, tid, cpu, socket, event --- */

uint64_t identity_of_comm(struct report *r, const struct cell_key *spot) {
    return profile_value(r->profile, spot->group, PROFILE_COMM);
}

void cell_comm(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)row;
    write_text_cell(r, id, to, "");
}

uint64_t identity_of_tid(struct report *r, const struct cell_key *spot) {
    return profile_value(r->profile, spot->group, PROFILE_TID);
}

/* Signed, as recorded: a thread without an id is -1. */
void cell_signed(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    out_i64(&to->out, (int32_t)(uint32_t)id);
}

/* The thread id and the last name of the thread. */
void cell_thread(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    static const struct record_key last = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const uint32_t name = thread_name_at(&r->profile->state.threads, (uint32_t)id, last, true);
    (void)row;
    out_i64_wide(&to->out, (int32_t)(uint32_t)id, 7);
    out_char(&to->out, ':');
    if (name != NO_NAME) {
        const struct intern_text text = intern_get(&r->profile->state.names, name);
        print_name(to, text.bytes, text.length);
    } else if (id != 0) {
        out_char(&to->out, ':');
        out_i64(&to->out, (int32_t)(uint32_t)id);
    } else {
        out_text(&to->out, "swapper");
    }
}

uint64_t identity_of_cpu(struct report *r, const struct cell_key *spot) {
    return profile_value(r->profile, spot->group, PROFILE_CPU);
}

uint64_t identity_of_socket(struct report *r, const struct cell_key *spot) {
    const uint64_t cpu = profile_value(r->profile, spot->group, PROFILE_CPU);
    return cpu < r->nr_cpus ? (uint32_t)r->socket_of[cpu] : (uint32_t)-1;
}

/* At least three digits: 007, -001. */
void cell_three(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    const int32_t number = (int32_t)(uint32_t)id;
    const uint64_t size = number < 0 ? 0 - (uint64_t)(int64_t)number : (uint64_t)number;
    (void)r, (void)row;
    if (number < 0)
        out_char(&to->out, '-');
    out_fill(&to->out, '0', size < 10 ? 2 : size < 100 ? 1 : 0);
    out_u64(&to->out, size);
}

int collate_signed(const struct report *r, uint64_t a, uint64_t b) {
    const int32_t x = (int32_t)(uint32_t)a, y = (int32_t)(uint32_t)b;
    (void)r;
    return (x > y) - (x < y);
}

uint64_t identity_of_event(struct report *r, const struct cell_key *spot) {
    (void)r;
    return spot->group->event;
}

void cell_event(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    const pfr_event *event = profile_event(r->reader, (uint32_t)id);
    (void)row;
    print_name(to, event->name, strlen(event->name));
}

/* --- dso and sym --- */

uint64_t object_name_of(const struct report *r, uint32_t frame) {
    const struct profile_frame *f = report_frame(r, frame);
    return f ? frame_object_name(r->profile, frame) : NO_TEXT;
}

/* Frames outside any object sort last. */
int collate_objects(const struct report *r, uint64_t a, uint64_t b) {
    const struct intern_table *names = &r->profile->state.names;
    if (a == b || a == NO_TEXT || b == NO_TEXT)
        return a == b ? 0 : a == NO_TEXT ? 1 : -1;
    return strcmp(intern_chars(names, (uint32_t)a), intern_chars(names, (uint32_t)b));
}

/* Reverses collate_objects, for columns that perf sorts in reverse alphabetical order. */
int collate_objects_back(const struct report *r, uint64_t a, uint64_t b) {
    return collate_objects(r, b, a);
}

uint64_t identity_of_dso(struct report *r, const struct cell_key *spot) {
    return object_name_of(r, spot->frame);
}

void cell_object(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)row;
    if (id == NO_TEXT) {
        out_text(&to->out, UNKNOWN);
        return;
    }
    const struct intern_text text = intern_get(&r->profile->state.names, (uint32_t)id);
    print_name(to, text.bytes, text.length);
}

/* The address that identifies a frame without a name: for a sampled frame its offset in the object, for a frame of a
   callchain the recorded address. */
static uint64_t address_of(const struct profile_frame *f, uint32_t frame) {
    return frame & NODE_APART ? f->address : f->ip;
}

/* Start of the frame's symbol. It differs from the frame's address only if the profile has a frame for each address,
   not one for each symbol. Inlined functions have no start. */
static uint64_t start_of(const struct report *r, const struct profile_frame *f) {
    if (f->is_inlined)
        return 0;
    return request_has_addresses(&r->profile->request) && f->start ? f->start : f->address;
}

int collate_symbols(const struct report *r, uint64_t a, uint64_t b) {
    const struct profile_frame *f = report_frame(r, (uint32_t)a), *g = report_frame(r, (uint32_t)b);
    if (!f || !g)
        return (f != NULL) - (g != NULL);
    if (f->text == NO_TEXT && g->text == NO_TEXT) {
        const int addresses = collate_addresses(address_of(f, (uint32_t)a), address_of(g, (uint32_t)b));
        return addresses ? addresses : collate_addresses(a & NODE_APART, b & NODE_APART);
    }
    const int objects = collate_objects(r, object_name_of(r, (uint32_t)a), object_name_of(r, (uint32_t)b));
    if (objects)
        return objects;
    if (f->text == NO_TEXT || g->text == NO_TEXT)
        return (f->text == NO_TEXT) - (g->text == NO_TEXT);
    if (f->is_inlined != g->is_inlined)
        return f->is_inlined ? -1 : 1;
    const int starts = collate_addresses(start_of(r, f), start_of(r, g));
    return starts ? starts : collate_texts(r, f->text, g->text);
}

static bool is_named(const struct report *r, uint64_t id) {
    const struct profile_frame *f = report_frame(r, (uint32_t)id);
    return f && f->text != NO_TEXT;
}

/* Like collate_symbols, but a strict weak order: a named and an unnamed frame are compared by name first, not by
 * object, because collate_symbols is not transitive if both kinds occur. */
int strict_symbols(const struct report *r, uint64_t a, uint64_t b) {
    const int named = is_named(r, b) - is_named(r, a);
    return named ? named : collate_symbols(r, a, b);
}

/* Named frames map to 0, so they come first; addresses keep their order. Two addresses may share the number 1;
 * strict_symbols then decides. */
uint64_t strict_symbols_coarsely(const struct report *r, uint64_t id) {
    const struct profile_frame *f = report_frame(r, (uint32_t)id);
    if (!f || f->text != NO_TEXT)
        return f ? 0 : 1;
    const uint64_t address = address_of(f, (uint32_t)id) ^ (uint64_t)1 << 63;
    return address ? address : 1;
}

/* Orders by name; unnamed frames are not ordered among themselves. */
int order_symbols(const struct report *r, uint64_t a, uint64_t b) {
    const struct profile_frame *f = report_frame(r, (uint32_t)a), *g = report_frame(r, (uint32_t)b);
    if (!is_named(r, a) || !is_named(r, b))
        return is_named(r, b) - is_named(r, a);
    return collate_texts(r, f->text, g->text);
}

uint64_t order_symbols_coarsely(const struct report *r, uint64_t id) {
    return is_named(r, id) ? 0 : 1;
}

uint64_t identity_of_symbol(struct report *r, const struct cell_key *spot) {
    return symbol_number(r, spot->frame);
}

char level_of(const struct report *r, const struct profile_frame *f) {
    static const char levels[] = "Hk.Hgu";
    if (f->object != NO_OBJECT) {
        const uint8_t kind = r->profile->state.objects.at[f->object].kind;
        return kind == OBJECT_KERNEL || kind == OBJECT_MODULE || kind == OBJECT_KSYMBOL ? 'k' : '.';
    }
    return f->cpumode < sizeof levels - 1 ? levels[f->cpumode] : 'H';
}

/* Zero has no 0x prefix, as with printf("%#x"). */
void write_address_cell(uint64_t address, struct output *out) {
    out_text(out, address ? "0x" : "");
    out_hex(out, address, 16);
}

void write_level(struct output *out, char level) {
    out_char(out, '[');
    out_char(out, level);
    out_write(out, "] ", 2);
}

void report_write_function(const struct report *r, const struct profile_frame *f, size_t before, pfr_output *to) {
    static const char inlined[] = " (inlined)";
    const struct intern_text text = intern_get(&r->profile->texts, f->text);
    print_name_within(to, text.bytes, text.length, before + (f->is_inlined ? sizeof inlined - 1 : 0));
    if (f->is_inlined)
        out_text(&to->out, inlined);
}

static void write_symbol(const struct report *r, const struct profile_frame *f, uint64_t id, char level,
                         pfr_output *to) {
    write_level(&to->out, level);
    if (f->text != NO_TEXT)
        report_write_function(r, f, 0, to);
    else
        write_address_cell(address_of(f, (uint32_t)id), &to->out);
}

void cell_symbol(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    const struct profile_frame *f = report_frame(r, (uint32_t)id);
    (void)row;
    if (f)
        write_symbol(r, f, id, level_of(r, f), to);
}

/* Frames without a name are one symbol if they have the same address, although their levels (kernel or user) may
   differ; so such a symbol is printed with the level of its row. */
void cell_sampled_symbol(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    const struct profile_frame *f = report_frame(r, (uint32_t)id);
    if (f)
        write_symbol(r, f, id, f->text == NO_TEXT ? row->level : level_of(r, f), to);
}

uint64_t identity_of_symbol_size(struct report *r, const struct cell_key *spot) {
    const struct profile_frame *f = report_frame(r, spot->frame);
    return f ? frame_symbol_size(r->profile, spot->frame) : UINT64_MAX;
}

void cell_size(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    if (id == UINT64_MAX)
        out_text(&to->out, "unknown");
    else
        out_u64(&to->out, id);
}

/* For fields whose identities are addresses. */
int collate_as_addresses(const struct report *r, uint64_t a, uint64_t b) {
    (void)r;
    return collate_addresses(a, b);
}

uint64_t identity_of_address(struct report *r, const struct cell_key *spot) {
    const struct profile_frame *f = report_frame(r, spot->frame);
    return f ? f->ip : 0;
}

void cell_address(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    out_text(&to->out, "0x");
    out_hex(&to->out, id, 1);
}

/* --- other recorded values --- */

uint64_t identity_of_parent(struct report *r, const struct cell_key *spot) {
    (void)r;
    return spot->parent;
}

void cell_parent(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)row;
    write_text_cell(r, id, to, "[other]");
}

uint64_t identity_of_cgroup(struct report *r, const struct cell_key *spot) {
    return profile_value(r->profile, spot->group, PROFILE_CGROUP);
}

void cell_text_or_none(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)row;
    write_text_cell(r, id, to, "N/A");
}

uint64_t identity_of_cgroup_id(struct report *r, const struct cell_key *spot) {
    return profile_value(r->profile, spot->group, PROFILE_CGROUP_ID);
}

uint64_t identity_of_parallelism(struct report *r, const struct cell_key *spot) {
    return profile_value(r->profile, spot->group, PROFILE_PARALLELISM);
}

void cell_number(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    out_u64(&to->out, id);
}

uint64_t identity_of_time(struct report *r, const struct cell_key *spot) {
    return profile_value(r->profile, spot->group, PROFILE_TIME);
}

void cell_time(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    out_time(&to->out, id, TIME_DIGITS);
}

/* --- columns of weights --- */

static void write_percent(struct output *out, double percent) {
    out_f64(out, percent, 2);
    out_char(out, '%');
}

void number_latency(const struct report *r, const struct row *row, pfr_output *to) {
    write_percent(&to->out, report_percent(r, row->event, row->self.weight));
}

void number_latency_children(const struct report *r, const struct row *row, pfr_output *to) {
    write_percent(&to->out, report_percent(r, row->event, row->total.weight));
}

void number_overhead(const struct report *r, const struct row *row, pfr_output *to) {
    write_percent(&to->out, overhead_percent(r, row->event, row_overhead(r, row).self));
}

void number_children(const struct report *r, const struct row *row, pfr_output *to) {
    write_percent(&to->out, overhead_percent(r, row->event, row_overhead(r, row).total));
}

void number_system(const struct report *r, const struct row *row, pfr_output *to) {
    write_percent(&to->out, overhead_percent(r, row->event, row_overhead(r, row).system));
}

void number_user(const struct report *r, const struct row *row, pfr_output *to) {
    write_percent(&to->out, overhead_percent(r, row->event, row_overhead(r, row).user));
}

void number_samples(const struct report *r, const struct row *row, pfr_output *to) {
    (void)r;
    out_u64(&to->out, row->self.samples);
}

void number_period(const struct report *r, const struct row *row, pfr_output *to) {
    out_u64(&to->out, profile_amount(r->profile, row_overhead(r, row).self));
}

uint64_t rank_self(const struct report *r, const struct row *row) {
    (void)r;
    return row->self.weight;
}

uint64_t rank_total(const struct report *r, const struct row *row) {
    (void)r;
    return row->total.weight;
}

uint64_t rank_overhead(const struct report *r, const struct row *row) {
    return row_overhead(r, row).self;
}

uint64_t rank_children(const struct report *r, const struct row *row) {
    return row_overhead(r, row).total;
}

uint64_t rank_system(const struct report *r, const struct row *row) {
    return row_overhead(r, row).system;
}

uint64_t rank_user(const struct report *r, const struct row *row) {
    return row_overhead(r, row).user;
}

uint64_t rank_samples(const struct report *r, const struct row *row) {
    (void)r;
    return row->self.samples;
}
