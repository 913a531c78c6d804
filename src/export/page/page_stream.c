/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes the columns of a page: see page_stream.h. */
#include "export/page/page_columns.h"

#include "base/memory/fail.h"
#include "base/text/json.h"
#include "model/open/wait_stacks.h"

#define MAGIC "PFRVIEW1"
#define WIDTH_MOST 7u

static uint64_t most_of(unsigned width) {
    return ((uint64_t)1 << 8 * width) - 1;
}

static uint8_t width_of(const struct page_data *d, const struct page_column *c) {
    uint8_t width = 1;
    const uint64_t count = c->count(d);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t value = c->value(d, i);
        while (width < WIDTH_MOST && value > most_of(width))
            width++;
    }
    return width;
}

static void write_column(const struct page_data *d, const struct page_column *c, unsigned width, struct output *to) {
    const uint64_t count = c->count(d);
    for (unsigned plane = 0; plane < width; plane++)
        for (uint64_t i = 0; i < count; i++)
            out_char(to, (char)(uint8_t)(c->value(d, i) >> 8 * plane));
}

static uint64_t bytes_of_texts(const struct page_data *d) {
    return d->nr_texts ? d->text_ends[d->nr_texts - 1] : 0;
}

static void name_column(struct json *json, const char *name, uint64_t count, unsigned width) {
    json_begin_object(json);
    json_key(json, "name");
    json_text(json, name);
    json_key(json, "count");
    json_u64(json, count);
    json_key(json, "width");
    json_u64(json, width);
    json_end_object(json);
}

static void describe_events(const struct page_data *d, struct json *json) {
    json_key(json, "events");
    json_begin_array(json);
    for (uint32_t id = 1; id <= pfr_model_count(d->tables.model, PFR_TABLE_EVENT); id++) {
        const pfr_model_event *event = pfr_model_get_event(d->tables.model, id);
        json_begin_object(json);
        json_key(json, "name");
        json_text(json, event->name);
        json_key(json, "unit");
        page_data_unit(event) ? json_text(json, page_data_unit(event)) : json_null(json);
        json_key(json, "traced");
        json_bool(json, event->is_traced);
        json_key(json, "samples");
        json_u64(json, event->samples);
        json_key(json, "baseline");
        json_bool(json, id > d->nr_new_events);
        json_end_object(json);
    }
    json_end_array(json);
}

static void describe(const struct page_data *d, struct json *json) {
    json_key(json, "meta");
    json_begin_object(json);
    json_key(json, "version");
    json_text(json, d->version);
    json_key(json, "quantum");
    json_u64(json, d->rows.slot);
    json_key(json, "interval_quantum");
    json_u64(json, d->interval_slot);
    json_key(json, "interval_least");
    json_u64(json, d->intervals.left_out ? d->intervals.shortest : 0);
    json_key(json, "call_quantum");
    json_u64(json, (uint64_t)1 << d->call_shift);
    json_key(json, "call_least");
    json_u64(json, d->calls.shortest);
    json_key(json, "weight_unit");
    json_u64(json, (uint64_t)1 << d->weight_shift);
    json_key(json, "only_switches");
    json_bool(json, d->only_switches);
    json_key(json, "library_text");
    wait_stacks_are_copies(d->described) ? json_null(json) : json_text(json, WAIT_LIBRARY_TEXT);
    json_key(json, "library_least");
    json_u64(json, WAIT_LIBRARY_LEAST);
    json_key(json, "rest_func");
    json_u64(json, d->tables.rest_func);
    json_key(json, "ticks");
    json_bool(json, pfr_model_ticks(d->tables.model));
    json_key(json, "sources");
    json_bool(json, d->code.with_sources);
    describe_events(d, json);
    json_key(json, "losses");
    json_begin_array(json);
    for (char **loss = d->losses; loss && *loss; loss++)
        json_text(json, *loss);
    json_end_array(json);
    json_end_object(json);
}

static void write_directory(const struct page_data *d, const uint8_t *widths, struct output *to) {
    const size_t count = page_columns_count();
    struct json json = json_on(to, JSON_LINE);
    json_begin_object(&json);
    describe(d, &json);
    json_key(&json, "columns");
    json_begin_array(&json);
    name_column(&json, "string.bytes", bytes_of_texts(d), 1);
    for (size_t i = 0; i < count; i++)
        name_column(&json, page_column_at(i)->name, page_column_at(i)->count(d), widths[i]);
    json_end_array(&json);
    json_end_object(&json);
    json_end_line(&json);
}

static void write_texts(const struct page_data *d, struct output *to) {
    for (uint32_t i = 0; i < d->nr_texts; i++) {
        const struct intern_text text = intern_get(&d->tables.texts, i);
        out_write(to, text.bytes, text.length);
    }
}

static pfr_status write_stream(const struct page_data *d, const uint8_t *widths, struct output *to, pfr_error *err) {
    struct output directory;
    size_t length;
    const size_t count = page_columns_count();
    out_open_memory(&directory, to->memory);
    write_directory(d, widths, &directory);
    const char *bytes = out_bytes(&directory, &length);
    if (directory.status < 0) {
        out_close(&directory, NULL);
        return mem_fail(to->memory, err, "view");
    }
    out_text(to, MAGIC);
    for (unsigned i = 0; i < 4; i++)
        out_char(to, (char)(uint8_t)(length >> 8 * i));
    out_write(to, bytes, length);
    out_close(&directory, NULL);
    write_texts(d, to);
    for (size_t i = 0; i < count; i++)
        write_column(d, page_column_at(i), widths[i], to);
    return PFR_OK;
}

pfr_status page_stream_write(const struct page_data *d, struct output *to, pfr_error *err) {
    const size_t count = page_columns_count();
    uint8_t *widths = mem_alloc(to->memory, count, sizeof *widths);
    if (!widths)
        return mem_fail(to->memory, err, "view");
    for (size_t i = 0; i < count; i++)
        widths[i] = width_of(d, page_column_at(i));
    const pfr_status st = write_stream(d, widths, to, err);
    mem_free(to->memory, widths, count, sizeof *widths);
    return st;
}
