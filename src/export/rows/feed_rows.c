/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the model and the output for a row sink, and walks the selected rows: see rows.h. */
#include "model/open/batch_rows.h"
#include "export/rows/rows.h"

#include "base/memory/fail.h"
#include "export/rows/packed.h"
#include "file/read/recording.h"
#include "file/xray/recorder_losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- Walks. */

static bool wants_comm(const struct rows *r, uint32_t comm) {
    const struct intern_text name = rows_comm(r, comm);
    return !r->choice.filter.lists.comms ||
           sample_filter_wants_comm(&r->choice.filter, (const char *)name.bytes, name.length);
}

static bool wants_sample(const struct rows *r, const pfr_sample *s) {
    const struct sample_facts facts = {.time = s->time,
                                       .cpu = s->cpu,
                                       .pid = rows_pid(r, s->thread),
                                       .tid = rows_tid(r, s->thread),
                                       .known = (s->time == PFR_NO_TIME ? 0 : SAMPLE_TIME) |
                                                (s->cpu == PFR_NO_CPU ? 0 : SAMPLE_CPU) | SAMPLE_PID | SAMPLE_TID};
    const struct choice *c = &r->choice;
    return choice_wants_event(c, s->event - 1) && /* id 0 (no event) becomes UINT32_MAX, which no event has as index */
           sample_filter_passes(&c->filter, &facts) && wants_comm(r, s->comm);
}

bool rows_want_call(const struct rows *r, const pfr_call *call) {
    const struct sample_facts facts = {.time = call->start,
                                       .pid = rows_pid(r, call->thread),
                                       .tid = rows_tid(r, call->thread),
                                       .known = SAMPLE_TIME | SAMPLE_PID | SAMPLE_TID};
    return sample_filter_passes(&r->choice.filter, &facts) &&
           wants_comm(r, pfr_model_get_thread(r->model, call->thread)->comm);
}

static pfr_sample sample_at(const pfr_sample_batch *b, uint32_t i) {
    return (pfr_sample){.time = b->time[i],
                        .weight = b->weight[i],
                        .period = b->period[i],
                        .thread = b->thread[i],
                        .comm = b->comm[i],
                        .cpu = b->cpu[i],
                        .event = b->event[i],
                        .stack = b->stack[i],
                        .mode = b->mode[i]};
}

/* As perf script does, leaves out a sampled address with which the recorded call chain does not begin: returns the
   stack of its parent. Sinks of addresses keep it. */
static uint32_t shown_stack(const struct rows *r, uint32_t stack) {
    const pfr_stack *s = &pfr_model_stacks(r->model)[stack];
    return s->is_apart && s->parent && !r->sink->addresses ? s->parent : stack;
}

static pfr_status take_samples(struct rows *r, const struct row_visit *visit, const pfr_sample_batch *b,
                               pfr_error *err) {
    const bool all = choice_is_everything(&r->choice) && !r->choice.filter.lists.comms;
    for (uint32_t i = 0; i < b->count; i++) {
        pfr_sample sample = sample_at(b, i);
        sample.stack = shown_stack(r, sample.stack);
        r->row_id = b->id[i];
        if (all || wants_sample(r, &sample))
            PFR_TRY(visit->sample(r, &sample, err));
    }
    return r->out && r->out->status < 0 ? out_flush(r->out, err) : PFR_OK;
}

static pfr_status walk_samples(struct rows *r, const struct row_visit *visit, pfr_error *err) {
    const pfr_samples_options options = {
        .size = sizeof options, .in_time_order = visit->in_time_order, .thread = visit->thread};
    const pfr_sample_batch *batch;
    pfr_samples *cursor = pfr_samples_open(r->model, &options, err);
    pfr_status st;
    if (!cursor)
        return err->status;
    while ((st = pfr_samples_next(cursor, &batch, err)) == PFR_OK && (st = take_samples(r, visit, batch, err)) >= 0)
        continue;
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static pfr_status take_calls(struct rows *r, const struct row_visit *visit, const pfr_call_batch *b, pfr_error *err) {
    const bool all = choice_is_everything(&r->choice) && !r->choice.filter.lists.comms;
    for (uint32_t i = 0; i < b->count; i++) {
        const pfr_call call = call_of_batch(b, i);
        r->row_id = b->id[i];
        if (!all && !rows_want_call(r, &call))
            continue;
        if (call.flags & PFR_CALL_OPEN)
            r->open_calls++;
        if (!(call.flags & PFR_CALL_OPEN) || visit->open_calls)
            PFR_TRY(visit->call(r, &call, err));
    }
    return r->out && r->out->status < 0 ? out_flush(r->out, err) : PFR_OK;
}

static pfr_status walk_calls(struct rows *r, const struct row_visit *visit, pfr_error *err) {
    const pfr_calls_options options = {.size = sizeof options, .thread = visit->thread};
    const pfr_call_batch *batch;
    pfr_calls *cursor = pfr_calls_open(r->model, &options, err);
    pfr_status st;
    if (!cursor)
        return err->status;
    r->open_calls = 0;
    while ((st = pfr_calls_next(cursor, &batch, err)) == PFR_OK && (st = take_calls(r, visit, batch, err)) >= 0)
        continue;
    pfr_calls_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static pfr_status walk_marks(struct rows *r, const struct row_visit *visit, pfr_error *err) {
    const pfr_mark *mark;
    for (uint64_t i = 0; (mark = pfr_model_mark(r->model, i)); i++)
        PFR_TRY(visit->mark(r, mark, err));
    return PFR_OK;
}

pfr_status rows_walk(struct rows *r, const struct row_visit *visit, pfr_error *err) {
    if (visit->sample)
        PFR_TRY(walk_samples(r, visit, err));
    if (visit->call)
        PFR_TRY(walk_calls(r, visit, err));
    return visit->mark ? walk_marks(r, visit, err) : PFR_OK;
}

/* --- Opening. */

static void report_hole(void *context, const pfr_error *hole) {
    const struct rows *r = context;
    if (r->of->hole)
        r->of->hole(r->of->context, hole);
}

static void report_note(void *context, const char *sentence) {
    rows_note(context, sentence);
}

static pfr_status open_model(struct rows *r, pfr_error *err) {
    const pfr_model_options how = {.size = sizeof how,
                                   .jobs = r->of->jobs ? r->of->jobs : 1,
                                   .max_stack = r->of->max_stack,
                                   .functions = !r->sink->addresses,
                                   .stitched = r->of->stitched,
                                   .naming = r->of->naming,
                                   .beside = r->beside,
                                   .hole = report_hole,
                                   .note = report_note,
                                   .context = r,
                                   .no_intervals = true, /* no format has thread states */
                                   .no_marks = r->sink->no_marks};
    r->model = pfr_model_open(r->reader, &how, err);
    return r->model ? PFR_OK : err->status;
}

static pfr_status note_call_time(struct rows *r, const pfr_call *call, pfr_error *err) {
    (void)err;
    r->begin = call->start < r->begin ? call->start : r->begin;
    r->end = call->start + call->duration > r->end ? call->start + call->duration : r->end;
    return PFR_OK;
}

static void note_mark_times(struct rows *r) {
    const pfr_mark *mark;
    for (uint64_t i = 0; (mark = pfr_model_mark(r->model, i)); i++) {
        if (!rows_is_logged(mark) || mark->time == PFR_NO_TIME)
            continue;
        r->begin = mark->time < r->begin ? mark->time : r->begin;
        r->end = mark->time > r->end ? mark->time : r->end;
    }
}

static pfr_status find_bounds(struct rows *r, pfr_error *err) {
    const struct row_visit calls = {.call = note_call_time, .open_calls = true};
    r->begin = PFR_NO_TIME;
    for (uint32_t id = 1; id <= pfr_model_count(r->model, PFR_TABLE_EVENT); id++) {
        const pfr_model_event *event = pfr_model_get_event(r->model, id);
        r->traced_event = event->is_traced ? id : r->traced_event;
        if (event->first == PFR_NO_TIME || event->is_traced)
            continue;
        r->begin = event->first < r->begin ? event->first : r->begin;
        r->end = event->last > r->end ? event->last : r->end;
    }
    r->is_traced = r->traced_event != 0;
    r->is_sampled = !r->is_traced || r->beside;
    if (r->is_traced)
        PFR_TRY(rows_walk(r, &calls, err));
    note_mark_times(r);
    r->begin = r->begin == PFR_NO_TIME ? 0 : r->begin;
    return PFR_OK;
}

/* --- Facts that users should know. */

static pfr_status check_events(const struct rows *r, pfr_error *err) {
    char text[120];
    uint32_t count = 0;
    for (uint32_t id = 1; id <= pfr_model_count(r->model, PFR_TABLE_EVENT); id++)
        count += id != r->traced_event && pfr_model_get_event(r->model, id)->samples > 0;
    if (!r->sink->sums_events || r->of->event || count < 2)
        return PFR_OK;
    if (r->by_weight)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                        "periods of %" PRIu32 " different events cannot be added; select one with --event", count);
    snprintf(text, sizeof text, "samples of %" PRIu32 " events are counted together; --event selects one", count);
    rows_note(r, text);
    return PFR_OK;
}

static pfr_status check_selection(const struct rows *r, pfr_error *err) {
    if (r->is_traced && r->of->cpus)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "cpu", "%s: calls of a trace have no CPU",
                        r->sink->format.name);
    if (!r->is_traced && r->of->naming && r->of->naming->instr_maps)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "instr-map",
                        "instrumentation maps apply only to XRay traces; this is perf.data");
    return PFR_OK;
}

static void report_caveats(const struct rows *r) {
    char text[160];
    if (r->open_calls) {
        snprintf(text, sizeof text, "%" PRIu64 " call%s unfinished: no duration is known", r->open_calls,
                 r->open_calls == 1 ? " is" : "s are");
        rows_note(r, text);
    }
    if (pfr_model_ticks(r->model))
        rows_note(r, "the clock frequency is unknown: times are ticks, not ns");
    if (r->sink->format.losses[0]) {
        snprintf(text, sizeof text, "%s: not in the output: %s", r->sink->format.name, r->sink->format.losses);
        rows_note(r, text);
    }
}

static void report_empty(const struct rows *r) {
    if (!pfr_model_sample_count(r->model) && !pfr_model_call_count(r->model))
        rows_note(r, "the recording has no samples or calls");
}

static bool is_limited(const struct rows *r) {
    const pfr_fact *fact;
    for (uint32_t i = 0; (fact = pfr_model_fact(r->model, i)); i++)
        if (fact->value && strcmp(fact->key, "limited") == 0)
            return true;
    return false;
}

/* --- Settings. */

static pfr_status set_option(struct rows *r, const struct row_option *o, const char *value, pfr_error *err) {
    char *at = (char *)r->state + o->offset, *end = NULL;
    if (o->kind == ROW_FLAG && !value) {
        *(bool *)at = true;
        return PFR_OK;
    }
    const double number = value ? strtod(value, &end) : -1;
    if (o->kind != ROW_PERCENT || !value || end == value || *end || !(number >= 0 && number <= 100))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "settings", "'%.40s' takes %s", o->name,
                        o->kind == ROW_FLAG ? "no value" : "a percentage, 0 to 100");
    *(double *)(void *)at = number;
    return PFR_OK;
}

static pfr_status refuse_setting(const struct row_sink *sink, const char *name, int length, pfr_error *err) {
    char known[80] = "";
    size_t used = 0;
    for (const struct row_option *o = sink->options; o && o->name && used < sizeof known; o++)
        used += (size_t)snprintf(known + used, sizeof known - used, used ? ", %s" : "settings: %s", o->name);
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "settings", "%s has no setting '%.*s'; %s", sink->format.name,
                    length, name, used ? known : "it has none");
}

static pfr_status read_setting(struct rows *r, const char *text, pfr_error *err) {
    const char *value = strchr(text, '=');
    const size_t length = value ? (size_t)(value - text) : strlen(text);
    for (const struct row_option *o = r->sink->options; o && o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, text, length) == 0)
            return set_option(r, o, value ? value + 1 : NULL, err);
    return refuse_setting(r->sink, text, (int)(length < 40 ? length : 40), err);
}

static pfr_status make_state(struct rows *r, pfr_error *err) {
    r->state = mem_zeroed(r->memory, 1, r->sink->state_size);
    if (!r->state)
        return mem_fail(r->memory, err, "export");
    for (const char *const *at = r->options->settings; at && *at; at++)
        PFR_TRY(read_setting(r, *at, err));
    return PFR_OK;
}

/* --- The whole export. */

static pfr_status write_file(struct rows *r, const char *path, pfr_error *err) {
    struct packed_file file;
    PFR_TRY(packed_open(&file, path, true, r->memory, err));
    r->out = file.out;
    const pfr_status st = r->sink->write(r, err);
    const pfr_status closed = packed_close(&file, st >= 0, st < 0 ? NULL : err);
    return st < 0 ? st : closed;
}

static pfr_status write_all(struct rows *r, pfr_output *out, pfr_error *err) {
    if (out && r->options->path && !r->sink->format.folder)
        return write_file(r, r->options->path, err);
    r->out = r->sink->format.folder || !out ? NULL : &out->out;
    PFR_TRY(r->sink->write(r, err));
    return r->out && r->out->status < 0 ? out_flush(r->out, err) : PFR_OK;
}

static pfr_status run(struct rows *r, pfr_output *out, pfr_error *err) {
    if (r->options->path && !r->sink->format.folder)
        PFR_TRY(whole_file_may_go_to(r->options->path, err));
    PFR_TRY(make_state(r, err));
    PFR_TRY(choice_read(&r->choice, r->of, r->reader, r->memory, err));
    PFR_TRY(open_model(r, err));
    PFR_TRY(samples_check_cpus(r->reader, r->of->cpus, err)); /* the events of a stream are known only now */
    PFR_TRY(choice_check(&r->choice, err));
    PFR_TRY(find_bounds(r, err));
    r->by_weight = r->of->by_period || ((!r->is_sampled || r->reader->waits) && !r->of->by_count);
    PFR_TRY(check_selection(r, err));
    PFR_TRY(check_events(r, err));
    recorder_losses_note(r->beside ? r->beside : r->reader, r->of->note, r->of->context);
    PFR_TRY(write_all(r, out, err));
    report_empty(r);
    report_caveats(r);
    return is_limited(r) ? PFR_HOLE : PFR_OK;
}

pfr_status rows_run(const struct row_sink *sink, pfr_reader *reader, const pfr_export_options *options, const void *own,
                    pfr_output *out, pfr_error *err) {
    static const pfr_selection everything = {.size = sizeof everything};
    struct rows r = {.sink = sink,
                     .of = options->of ? options->of : &everything,
                     .options = options,
                     .own = own,
                     .to = out,
                     .reader = reader,
                     .beside = options->beside,
                     .memory = &reader->memory};
    /* The selection (events, CPUs, threads) refers to the recording with samples, so that one becomes r.reader. */
    if (r.beside && reader->trace && !r.beside->trace) {
        r.reader = options->beside;
        r.beside = reader;
    }
    out_open_memory(&r.text, r.memory);
    const pfr_status st = run(&r, out, err);
    if (r.state && sink->clear)
        sink->clear(&r);
    mem_free(r.memory, r.state, 1, sink->state_size);
    out_close(&r.text, NULL);
    pfr_model_close(r.model);
    choice_free(&r.choice);
    return st;
}
