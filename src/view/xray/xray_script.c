/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the options of the script of an XRay trace, and contains its loop: see xray_script.h. */
#include "view/xray/xray_script.h"

#include "file/xray/recorder_losses.h"
#include "file/read/recording.h"

#include <inttypes.h>
#include <stdio.h>

#define SENTENCE 1024

/* --- Refused options. */

/* Returns a sentence that explains why one of the given options cannot apply to XRay traces; NULL: all options can
 * apply. */
static const char *why_refused(const pfr_script_options *o) {
    const pfr_symbol_options naming = naming_of(o->naming);
    if (o->fields && o->fields[0] && o->format != PFR_SCRIPT_TEXT && o->format != PFR_SCRIPT_JSON)
        return "the formats of llvm-xray always have all fields";
    if (o->show || o->switch_on || o->switch_off || o->show_switches)
        return "XRay traces contain no records and events of perf";
    if (o->max_stack || o->stitched || o->hide_call_graph || o->stop_at)
        return "calls of a trace have no call chains; their callers are calls themselves";
    if (o->comms)
        return "XRay traces contain no thread names; --tid and --pid select threads";
    if (o->address_range)
        return "--addr-range needs addresses inside functions, which XRay traces do not contain";
    if (naming.vmlinux || naming.kallsyms || naming.demangle_kernel || o->kernel_paths)
        return "XRay traces contain no kernel functions";
    if (o->dump || o->unsorted)
        return "perf's dump applies only to perf.data; perfray dump prints the records of a trace";
    if (o->per_event)
        return "--per-event-dump needs sampled events, which XRay traces do not contain";
    if (o->format == PFR_SCRIPT_LLVM_YAML && o->clock != PFR_SCRIPT_AS_RECORDED)
        return "times in llvm-xray's YAML are ticks as recorded";
    return NULL;
}

/* --- The loop. */

/* Whether the event is a note from perfray's own runtime about names and objects, not an event of the program.
 * llvm-xray prints such notes, so the YAML form also contains them. */
static bool is_note(struct xray_script *s, const struct xray_event *event) {
    char magic[RTF_MAGIC_SIZE];
    size_t got = 0;
    if (s->options->format == PFR_SCRIPT_LLVM_YAML || event->kind != TRACE_CUSTOM_EVENT || event->count < sizeof magic)
        return false;
    xray_script_fail(s, xray_order_payload(s->order, event, 0, magic, sizeof magic, &got, s->err));
    return got == sizeof magic && memcmp(magic, RTF_MAGIC, sizeof magic) == 0;
}

static pfr_status print_all(struct xray_script *s, pfr_error *err) {
    const struct xray_event *event;
    pfr_status st;
    s->form->begin(s);
    PFR_TRY(s->failed);
    while ((st = xray_order_next(s->order, &event, err)) == PFR_OK) {
        if (s->form->see)
            s->form->see(s, event);
        if (xray_filter_wants(s, event) && !is_note(s, event))
            s->form->event(s, event);
        PFR_TRY(s->failed);
        if (s->out->status < 0)
            return out_flush(s->out, err);
    }
    PFR_TRY(st);
    s->form->end(s);
    return s->failed;
}

static void note(const struct xray_script *s, const char *text) {
    if (s->options->note)
        s->options->note(s->options->context, text);
}

/* Reports facts that the text does not show or may show wrongly; they do not mean damage. */
static void report_quality(const struct xray_script *s) {
    char text[SENTENCE];
    const struct xray_order_facts *facts = xray_order_facts(s->order);
    pfr_error why;
    if (name_limits_met(&s->names.limits, &why) && s->options->hole)
        s->options->hole(s->options->context, &why);
    if (function_names_doubt(&s->names, text, sizeof text))
        note(s, text);
    if (facts->untimed) {
        snprintf(text, sizeof text,
                 "events without a time, because no clock record precedes them in their buffers: %" PRIu64,
                 facts->untimed);
        note(s, text);
    }
    if (s->cut_payloads) {
        snprintf(text, sizeof text, "payloads that llvm-xray's YAML cuts at invalid UTF-8: %" PRIu64, s->cut_payloads);
        note(s, text);
    }
    recorder_losses_note(s->reader, s->options->note, s->options->context);
}

static pfr_status run(struct xray_script *s, pfr_error *err) {
    const pfr_script_options *o = s->options;
    const struct function_names_options how = {
        .naming = naming_of(o->naming), .trace = s->reader, .parameters = o->format == PFR_SCRIPT_LLVM_YAML};
    const struct xray_order_watch watch = {o->hole, o->context};
    PFR_TRY(function_names_open(&s->names, s->memory, &how, err));
    PFR_TRY(xray_order_open(&s->order, s->reader, s->memory, &watch, err));
    s->clock = xray_clock_of(s->reader); /* complete now, because sorting has read the whole trace */
    s->in_ticks = o->ticks || s->clock.frequency == 0;
    PFR_TRY(xray_filter_make(s, err));
    PFR_TRY(print_all(s, err));
    PFR_TRY(out_flush(s->out, err));
    report_quality(s);
    return xray_order_facts(s->order)->lossy || name_limits_any(&s->names.limits) ? PFR_HOLE : PFR_OK;
}

pfr_status xray_script_print(pfr_reader *reader, const pfr_script_options *options, pfr_output *out, pfr_error *err) {
    static const struct xray_script_form *const forms[] = {[PFR_SCRIPT_TEXT] = &xray_text_form,
                                                           [PFR_SCRIPT_JSON] = &xray_json_form,
                                                           [PFR_SCRIPT_LLVM_YAML] = &xray_yaml_form,
                                                           [PFR_SCRIPT_LLVM_MAP] = &xray_map_form};
    const char *why = why_refused(options);
    unsigned fields;
    if (why)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "options", "%s", why);
    PFR_TRY(xray_fields_read(options->fields, &fields, err));
    if (options->format == PFR_SCRIPT_JSON && !(options->fields && options->fields[0]))
        fields = TRACE_FIELDS_ALL;
    struct xray_script s = {.options = options,
                            .reader = reader,
                            .memory = &reader->memory,
                            .to = out,
                            .out = &out->out,
                            .form = forms[options->format],
                            .fields = fields,
                            .err = err};
    u64_map_init(&s.wanted, s.memory);
    u64_map_init(&s.shown, s.memory);
    const pfr_status st = run(&s, err);
    if (s.form->free)
        s.form->free(&s);
    xray_filter_free(&s);
    u64_map_free(&s.shown);
    xray_order_close(s.order);
    function_names_close(&s.names);
    return st;
}
