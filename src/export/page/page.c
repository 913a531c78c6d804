/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recording as one HTML file: see perfray/view.h. */
#include "export/page/page_command.h"
#include "export/page/page_head.h"

#include "base/io/gzip_output.h"
#include "base/io/whole_file.h"
#include "base/memory/fail.h"
#include "base/text/public_output.h"

#include <perfray/samples.h>
#include <perfray/spans.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_MAX_SIZE ((uint64_t)32 << 20)
#define LEAST_MAX_SIZE ((uint64_t)1 << 20)
#define BYTES_OF_ROW 4u  /* approximate bytes of base64 per sample */
#define BYTES_OF_CALL 5u /* approximate bytes of base64 per call */
#define BYTES_OF_INTERVAL 12u
#define BYTES_OF_NODE 7u
#define BYTES_OF_WAIT 18u
#define SHARE_OF_MARKS 8u /* logged events take at most 1/8 of the page */
#define SHARE_OF_IDLE 16u
#define SLOT_MOST 1024u /* ns */
#define SLOTS_OF_GAP 20u
#define ROUNDS 12u
#define BLOCK ((size_t)24 << 20) /* bytes of one block before base64: browsers refuse strings of 512 MB or more */

/* --- Length of a time slot: a power of two of ns, at most SLOT_MOST and at most 1/20 of the
   average gap between two samples of the recording. The gaps within one thread are longer. Slots
   are longer than that only if slot numbers would otherwise need more than PAGE_NUMBER_BITS. */

static void bounds_of(const pfr_model *model, uint64_t *first, uint64_t *last) {
    *first = PFR_NO_TIME;
    *last = 0;
    for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_EVENT); id++) {
        const pfr_model_event *event = pfr_model_get_event(model, id);
        if (event->first != PFR_NO_TIME && event->first < *first)
            *first = event->first;
        if (event->first != PFR_NO_TIME && event->last > *last)
            *last = event->last;
    }
    if (*first == PFR_NO_TIME)
        *first = 0;
}

static uint64_t slot_for(const pfr_model *model, uint64_t span) {
    const uint64_t samples = pfr_model_sample_count(model);
    const uint64_t gap = samples ? span / samples : 0;
    uint64_t slot = 1;
    while (span / slot >> PAGE_NUMBER_BITS || (slot < SLOT_MOST && slot * 2 <= gap / SLOTS_OF_GAP))
        slot *= 2;
    return slot;
}

static uint64_t max_size_of(const pfr_view_options *o) {
    const uint64_t wanted = o->max_size ? o->max_size : DEFAULT_MAX_SIZE;
    return wanted < LEAST_MAX_SIZE ? LEAST_MAX_SIZE : wanted;
}

static void reach(struct page_data *d, uint64_t start, uint64_t duration) {
    const uint64_t end = start + duration;
    d->begin = start < d->begin ? start : d->begin;
    d->end = end > d->end ? end : d->end;
}

/* Extends the range of the page to all calls. Without samples, the range begins at the first of
   them. */
static void span_calls(struct page_data *d) {
    if (!pfr_model_sample_count(d->tables.model) && d->calls.count)
        d->begin = d->calls.at[0].start;
    for (size_t i = 0; i < d->calls.count; i++)
        reach(d, d->calls.at[i].start, d->calls.at[i].duration);
}

static bool has_samples_or_calls(const struct page_data *d) {
    return pfr_model_sample_count(d->tables.model) || d->calls.count;
}

/* Extends the range of the page to the intervals of the timeline. The range begins no later than
   the longest interval of each sum of waits, even if the timeline omits that interval. */
static void span_intervals(struct page_data *d) {
    const struct page_interval *at = d->intervals.at;
    if (!has_samples_or_calls(d) && d->intervals.count)
        d->begin = at->start;
    for (size_t i = 0; i < d->intervals.count; i++)
        reach(d, at[i].start, at[i].duration);
    if (!has_samples_or_calls(d) && !d->intervals.count && d->waits.count)
        d->begin = d->waits.at[0].start;
    for (size_t i = 0; i < d->waits.count; i++)
        if (d->waits.at[i].start < d->begin)
            d->begin = d->waits.at[i].start;
}

/* Reads the code of the described model and of the baseline, if there is one. */
static pfr_status read_code(struct page_data *d, const pfr_view_options *o, uint64_t most, struct memory *memory,
                            pfr_error *err) {
    const struct page_code_side sides[PAGE_SIDES] = {
        [PAGE_NEWER] = {.model = d->described, .symbols = d->pair.symbols[PAGE_NEWER]},
        [PAGE_BASELINE] = {d->baseline, d->pair.symbols[PAGE_BASELINE], d->nr_new_events}};
    return page_code_read(&d->code, &d->tables, sides, o, most, memory, err);
}

static bool has_rows(const struct page_data *d) {
    return has_samples_or_calls(d) || d->intervals.count || d->waits.count;
}

/* Extends the range of the page to all logged events, because a program may log outside all calls. */
static void span_marks(struct page_data *d) {
    if (!has_rows(d)) {
        d->begin = UINT64_MAX;
        d->end = 0;
    }
    page_marks_extend(&d->marks, &d->begin, &d->end);
    page_marks_keep(&d->marks, d->begin, d->end);
    if (d->begin > d->end)
        d->begin = d->end = 0;
}

/* The latencies are those of all calls; later, the page may omit calls. */
static pfr_status read_calls(struct page_data *d, uint64_t most, struct memory *memory, pfr_error *err) {
    const uint32_t *const *symbols = (const uint32_t *const *)d->pair.symbols;
    PFR_TRY(page_latencies_add(&d->latencies, &d->tables, d->described, symbols[PAGE_NEWER], PAGE_NEWER, err));
    if (d->baseline)
        PFR_TRY(page_latencies_add(&d->latencies, &d->tables, d->baseline, symbols[PAGE_BASELINE], PAGE_BASELINE, err));
    return page_calls_read(&d->calls, &d->tables, most / BYTES_OF_CALL, memory, err);
}

static pfr_status read_waits(struct page_data *d, struct memory *memory, pfr_error *err) {
    const uint8_t *of_command = d->has_command ? d->of_command : NULL;
    PFR_TRY(page_waits_read(&d->waits, &d->tables, of_command, memory, err));
    d->only_switches = page_data_has_only_switches(d);
    if (!d->only_switches || d->waits.count || d->baseline)
        return PFR_OK;
    return page_waits_count(&d->waits, &d->tables, of_command, err);
}

static pfr_status read_all(struct page_data *d, const pfr_model *model, const pfr_view_options *o,
                           struct memory *memory, pfr_error *err) {
    const uint64_t most = max_size_of(o);
    PFR_TRY(page_tables_make(&d->tables, model, o->redact_paths, memory, err));
    PFR_TRY(page_command_mark(d, memory, err));
    bounds_of(model, &d->begin, &d->end);
    PFR_TRY(read_calls(d, most, memory, err));
    PFR_TRY(read_waits(d, memory, err));
    PFR_TRY(page_intervals_read(&d->intervals, &d->tables, &d->waits, most / BYTES_OF_INTERVAL / 2, memory, err));
    PFR_TRY(page_marks_read(&d->marks, &d->tables, most / SHARE_OF_MARKS, memory, err));
    span_calls(d);
    span_intervals(d);
    span_marks(d);
    const uint64_t span = d->end > d->begin ? d->end - d->begin : 0, slot = slot_for(model, span);
    d->interval_slot = span >> PAGE_NUMBER_BITS ? slot : 1;
    page_rows_init(&d->rows, d->begin, slot, most / BYTES_OF_ROW, memory);
    PFR_TRY(page_rows_read(&d->rows, &d->tables, err));
    PFR_TRY(page_command_weigh(d, memory, err));
    PFR_TRY(read_code(d, o, most, memory, err));
    if (d->baseline)
        PFR_TRY(page_changes_read(&d->changes, &d->tables, d->described, &d->sides, memory, err));
    return page_data_finish(d, memory, err);
}

/* --- Packing. */

static pfr_status pack(const struct page_data *d, struct output *packed, struct memory *memory, pfr_error *err) {
    struct gzip_output gzip;
    PFR_TRY(gzip_output_open(&gzip, packed, memory, err));
    const pfr_status st = page_stream_write(d, &gzip.out, err);
    const pfr_status end = gzip_output_close(&gzip, st < 0 ? NULL : err);
    if (st < 0 || end < 0)
        return st < 0 ? st : end;
    return packed->status < 0 ? mem_fail(memory, err, "view") : PFR_OK;
}

/* Reduces the data. If the tree takes more than half of the space, merges rare stacks; if sums of
 * waits take more than a quarter, merges small sums. If stacks or more than 1/8 of the sums were
 * merged, and samples, calls and intervals take less than half of the space, nothing else is
 * reduced. Otherwise makes the times of samples coarser and leaves out the shortest calls and
 * intervals. */
static pfr_status make_smaller(struct page_data *d, uint64_t most, struct memory *memory, pfr_error *err) {
    const bool is_wide = d->tables.nr_nodes > most / 2 / BYTES_OF_NODE;
    const uint64_t of_rows =
        d->rows.count * BYTES_OF_ROW + d->calls.count * BYTES_OF_CALL + d->intervals.count * BYTES_OF_INTERVAL;
    if (is_wide)
        PFR_TRY(page_data_prune(d, memory, err));
    const size_t waits = d->waits.count;
    const bool waits_long = waits > most / 4 / BYTES_OF_WAIT;
    const bool fewer_waits =
        waits_long && page_waits_cut(&d->waits, d->tables.rest_func) && d->waits.count < waits - waits / 8;
    if ((is_wide || fewer_waits) && of_rows < most / 2)
        return PFR_OK;
    page_rows_coarsen(&d->rows);
    page_calls_cut(&d->calls, d->calls.count / 2);
    d->interval_slot *= d->interval_slot < d->rows.slot ? 4 : 1;
    page_intervals_cut(&d->intervals, d->intervals.count / 2);
    page_data_recount(d);
    return PFR_OK;
}

/* Lists the losses again and packs the data with them; replaces an earlier result. */
static pfr_status pack_again(struct page_data *d, struct output *packed, struct memory *memory, pfr_error *err) {
    out_clear(packed);
    page_losses_free(d->losses, memory);
    d->losses = page_losses(d, memory, err);
    return d->losses ? pack(d, packed, memory, err) : err->status;
}

static bool fits(const struct output *packed, uint64_t most) {
    size_t length;
    out_bytes(packed, &length);
    return length / 3 * 4 <= most;
}

static void note_exceeded(const struct page_data *d) {
    char text[200];
    snprintf(text, sizeof text, PAGE_EXCEEDS, (double)d->exceeded / (1 << 20));
    d->note(d->note_context, text);
}

/* Data that cannot be made small enough is written nevertheless; the page says that it is larger. */
static pfr_status pack_within(struct page_data *d, uint64_t most, struct output *packed, struct memory *memory,
                              pfr_error *err) {
    PFR_TRY(pack_again(d, packed, memory, err));
    for (unsigned round = 1; round < ROUNDS && !fits(packed, most); round++) {
        if (!d->rows.count && !d->calls.count && !d->intervals.count && !d->waits.count)
            break;
        PFR_TRY(make_smaller(d, most, memory, err));
        PFR_TRY(pack_again(d, packed, memory, err));
    }
    if (fits(packed, most))
        return PFR_OK;
    d->exceeded = most;
    if (d->note)
        note_exceeded(d);
    return pack_again(d, packed, memory, err);
}

/* --- Base64. */

static void write_triple(struct output *to, const uint8_t *at, size_t left) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits = (uint32_t)at[0] << 16 | (left > 1 ? (uint32_t)at[1] << 8 : 0) | (left > 2 ? at[2] : 0);
    out_char(to, digits[bits >> 18]);
    out_char(to, digits[bits >> 12 & 63]);
    out_char(to, left > 1 ? digits[bits >> 6 & 63] : '=');
    out_char(to, left > 2 ? digits[bits & 63] : '=');
}

static void write_blocks(const char *bytes, size_t length, struct output *to) {
    for (size_t from = 0; from < length; from += BLOCK) {
        const size_t end = length - from > BLOCK ? from + BLOCK : length;
        out_text(to, "<script type=\"application/x-perfray\">");
        for (size_t i = from; i < end; i += 3)
            write_triple(to, (const uint8_t *)bytes + i, end - i);
        out_text(to, "</script>\n");
    }
}

static pfr_status write_page(struct page_data *d, const pfr_view_options *o, struct memory *memory, struct output *to,
                             pfr_error *err) {
    struct output packed;
    size_t length;
    out_open_memory(&packed, memory);
    const pfr_status st = pack_within(d, max_size_of(o), &packed, memory, err);
    const char *bytes = out_bytes(&packed, &length);
    if (st >= 0 && o->data_only)
        out_write(to, bytes, length);
    else if (st >= 0) {
        page_head_write(d, o, to);
        write_blocks(bytes, length, to);
        page_tail_write(to);
    }
    out_close(&packed, NULL);
    return st < 0 ? st : PFR_OK;
}

/* --- The file. */

/* Data files are gzip; only the suffix shows that perfray wrote them. */
static bool is_ours(const char *path, const char *begin, bool data_only) {
    const size_t length = strlen(path);
    if (!data_only)
        return strcmp(begin, PAGE_BEGIN) == 0;
    return memcmp(begin, "\x1f\x8b", 2) == 0 && length > 4 && strcmp(path + length - 4, ".prv") == 0;
}

/* Whether a page may be written to this path: there is no such file, or the file is an earlier page. */
static pfr_status may_be_written(const char *path, bool data_only, pfr_error *err) {
    char begin[sizeof PAGE_BEGIN] = "";
    PFR_TRY(whole_file_may_go_to(path, err));
    FILE *file = fopen(path, "re");
    if (!file)
        return PFR_OK; /* the file does not exist, or writing it will report the error */
    const size_t length = fread(begin, 1, sizeof begin - 1, file);
    fclose(file);
    if (length == 0 || is_ours(path, begin, data_only))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "path",
                    "%s exists and was not made by perfray view; remove it or choose another name", path);
}

/* The recordings of both sides. `own` is used for a side whose recordings the options do not list:
   [0] is the baseline, [1] the newer recording. */
static struct page_sides sides_of(const pfr_view_options *o, const pfr_diff_run *own) {
    return (struct page_sides){.base = o->base_count ? o->base_runs : &own[0],
                               .changed = o->new_count ? o->new_runs : &own[1],
                               .base_count = o->base_count ? o->base_count : 1,
                               .changed_count = o->new_count ? o->new_count : 1};
}

static pfr_status write_model(const pfr_model *model, const pfr_view_options *o, struct memory *memory,
                              struct output *to, pfr_error *err) {
    const pfr_diff_run own[] = {{.model = o->baseline, .name = ""}, {.model = model, .name = ""}};
    struct page_data data = {.described = model,
                             .baseline = o->baseline,
                             .sides = sides_of(o, own),
                             .notes = o->notes,
                             .note = o->note,
                             .note_context = o->note_context,
                             .idle_room = max_size_of(o) / SHARE_OF_IDLE,
                             .version = o->version ? o->version : ""};
    if (!model) {
        page_head_write(NULL, o, to);
        page_tail_write(to);
        return PFR_OK;
    }
    data.nr_new_events = pfr_model_count(model, PFR_TABLE_EVENT);
    data.nr_new_threads = pfr_model_count(model, PFR_TABLE_THREAD);
    while (pfr_model_mark(model, data.nr_new_marks))
        data.nr_new_marks++;
    data.pair.memory = memory;
    pfr_status st = o->baseline ? page_pair_make(&data.pair, model, o->baseline, memory, err) : PFR_OK;
    if (st >= 0)
        st = read_all(&data, o->baseline ? data.pair.model : model, o, memory, err);
    if (st >= 0)
        st = write_page(&data, o, memory, to, err);
    page_losses_free(data.losses, memory);
    page_data_free(&data, memory);
    page_pair_free(&data.pair);
    return st;
}

static pfr_status write_file(const pfr_model *model, const pfr_view_options *o, struct memory *memory, pfr_error *err) {
    struct whole_file file;
    struct output to;
    PFR_TRY(may_be_written(o->path, o->data_only, err));
    PFR_TRY(whole_file_open(&file, o->path, memory, &to, err));
    const pfr_status st = write_model(model, o, memory, &to, err);
    const pfr_status end = whole_file_close(&file, &to, st >= 0, st < 0 ? NULL : err);
    return st < 0 ? st : end;
}

pfr_status pfr_view_write(const pfr_model *model, const pfr_view_options *options, pfr_output *out, pfr_error *err) {
    pfr_view_options o = {.size = sizeof o};
    pfr_error own;
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    err = err ? err : &own;
    return o.path ? write_file(model, &o, &out->memory, err) : write_model(model, &o, &out->memory, &out->out, err);
}
