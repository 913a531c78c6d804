/* SPDX-License-Identifier: Apache-2.0 */
/* Implements perfray/annotate.h: opens the model, then prints the chosen functions one after the other. See
   annotate_parts.h. */
#include "view/annotate/annotate_choose.h"

#include "view/annotate/annotate_counts.h"
#include "view/annotate/annotate_csv.h"
#include "view/annotate/annotate_diff.h"
#include "view/annotate/annotate_json.h"
#include "view/annotate/annotate_source.h"
#include "view/annotate/annotate_text.h"

static pfr_status print_function(struct annotate *a, struct disasm *disasm, uint32_t symbol, pfr_error *err) {
    struct function_rows rows;
    pfr_status st = function_rows_make(a, disasm, symbol, &rows, err);
    if (st == PFR_OK) {
        function_rows_note(a, &rows);
        if (a->options->format == PFR_ANNOTATE_TEXT)
            st = annotate_text(a, &rows, err);
        else if (a->options->format == PFR_ANNOTATE_CSV)
            annotate_csv(a, &rows);
        else
            annotate_json(a, &rows);
    }
    function_rows_free(a, &rows);
    return st;
}

static bool was_before(const struct annotate *a, uint32_t index) {
    const char *name = annotate_symbol_name(pfr_model_get_symbol(a->model, a->chosen[index].symbol));
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(annotate_symbol_name(pfr_model_get_symbol(a->model, a->chosen[i].symbol)), name) == 0)
            return true;
    return false;
}

/* Prints a source function by line. All symbols with the same name, inlined or not, are one source function; it is
   printed once, for the first of these symbols. */
static pfr_status print_lines(struct annotate *a, uint32_t index, pfr_error *err) {
    struct line_rows lines;
    if (was_before(a, index))
        return PFR_OK;
    const pfr_status st = line_rows_make(a, a->chosen[index].symbol, &lines, err);
    if (st == PFR_OK && a->options->format == PFR_ANNOTATE_TEXT)
        annotate_text_lines(a, &lines);
    else if (st == PFR_OK && a->options->format == PFR_ANNOTATE_CSV)
        annotate_csv_lines(a, &lines);
    else if (st == PFR_OK)
        annotate_json_lines(a, &lines);
    line_rows_free(a, &lines);
    return st;
}

static pfr_status print_all(struct annotate *a, pfr_error *err) {
    struct disasm disasm;
    pfr_status st = PFR_OK;
    disasm_begin(&disasm, DISASM_NONE, a->options->intel);
    if (a->options->format == PFR_ANNOTATE_CSV)
        annotate_csv_head(a);
    if (a->options->format == PFR_ANNOTATE_JSON)
        annotate_json_begin(a);
    for (uint32_t i = 0; i < a->printed && st == PFR_OK; i++)
        st = a->options->by_line ? print_lines(a, i, err) : print_function(a, &disasm, a->chosen[i].symbol, err);
    if (a->options->format == PFR_ANNOTATE_JSON)
        annotate_json_end(a);
    disasm_end(&disasm);
    return st;
}

static pfr_status open_model(struct annotate *a, pfr_error *err) {
    const pfr_annotate_options *o = a->options;
    const char *colon = o->what ? strrchr(o->what, ':') : NULL;
    const pfr_model_options options = {.size = sizeof options,
                                       .jobs = o->jobs,
                                       .lines = o->by_line || (colon && colon[1] >= '0' && colon[1] <= '9'),
                                       .inlined = o->by_line,
                                       .naming = &a->naming,
                                       .hole = o->hole,
                                       .note = o->note,
                                       .context = o->context};
    a->model = pfr_model_open(a->reader, &options, err);
    return a->model ? PFR_OK : err->status;
}

static pfr_status load(struct annotate *a, pfr_error *err) {
    PFR_TRY(open_model(a, err));
    PFR_TRY(annotate_count(a, err));
    return annotate_choose(a, err);
}

static bool is_lossy(const struct annotate *a) {
    const pfr_fact *fact;
    bool lossy = false;
    for (uint32_t i = 0; a->model && (fact = pfr_model_fact(a->model, i)); i++)
        lossy |= strcmp(fact->key, "lossy") == 0 && fact->value;
    return lossy;
}

void annotate_release(struct annotate *a) {
    const size_t stacks = a->model ? (size_t)pfr_model_count(a->model, PFR_TABLE_STACK) + 1 : 0;
    mem_free(a->memory, a->line_sums, a->line_sums ? stacks : 0, sizeof *a->line_sums);
    mem_free(a->memory, a->sums, a->sums ? a->nr_sums : 0, sizeof *a->sums);
    mem_free(a->memory, a->chosen, a->chosen_room, sizeof *a->chosen);
    sample_filter_free(&a->filter);
    source_files_free(a);
}

static pfr_status check(const struct annotate *a, pfr_error *err) {
    if (a->reader->trace)
        return pfr_fail(
            err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "annotate",
            "a trace has no addresses and no call sites; perfray latency --by=caller shows calls by caller, "
            "perfray record -g costs by line");
    if (a->naming.no_symbols)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "no_symbols",
                        "annotate needs function names, which no_symbols omits");
    return PFR_OK;
}

/* If the recording has several events, compares only the first event; the older recording must have this event, too. */
static pfr_status run_diff(struct annotate *a, pfr_error *err) {
    pfr_annotate_options of_base = *a->options;
    of_base.context = of_base.base_context ? of_base.base_context : of_base.context;
    of_base.source_dir = of_base.base_source_dir ? of_base.base_source_dir : of_base.source_dir;
    struct annotate base = {.options = &of_base,
                            .naming = a->naming,
                            .reader = a->options->base,
                            .memory = a->memory,
                            .out = a->out,
                            .only_source_dir = of_base.base_source_dir != NULL};
    pfr_status st = load(a, err);
    if (st >= 0 && a->nr_events)
        of_base.event = pfr_model_get_event(a->model, a->events[0])->name;
    if (st >= 0)
        st = check(&base, err);
    if (st >= 0)
        st = load(&base, err);
    if (st >= 0)
        st = annotate_diff(&base, a, err);
    const bool lossy = is_lossy(&base);
    source_files_note(&base);
    annotate_release(&base);
    pfr_model_close(base.model);
    return st == PFR_OK && lossy ? PFR_HOLE : st;
}

static pfr_status run(struct annotate *a, pfr_error *err) {
    const pfr_status chosen = load(a, err);
    return chosen == PFR_OK ? print_all(a, err) : chosen;
}

pfr_status pfr_annotate_print(pfr_reader *reader, const pfr_annotate_options *options, pfr_output *out,
                              pfr_error *err) {
    pfr_annotate_options own = {.size = sizeof own};
    pfr_error ignored;
    memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    own.by_line |= own.base != NULL;
    err = err ? err : &ignored;
    struct annotate a = {.options = &own, .reader = reader, .memory = &reader->memory, .out = out};
    a.naming = naming_of(own.naming);
    PFR_TRY(check(&a, err));
    const pfr_status st = own.base ? run_diff(&a, err) : run(&a, err);
    source_files_note(&a);
    const bool lossy = is_lossy(&a);
    annotate_release(&a);
    pfr_model_close(a.model);
    return st == PFR_OK && lossy ? PFR_HOLE : st;
}
