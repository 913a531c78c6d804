/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML of a page: see page_head.h. */
#include "export/page/page_head.h"

#include "base/text/escape.h"
#include "export/page/page_files.h"
#include "symbol/demangle/fold_templates.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LISTED 20u
#define ANSWER_NAME_MOST 100u /* bytes of a name in the sentence about where the time goes */
#define NO_CPU_SAMPLES "No CPU samples: perfray record -e cpu-clock --off-cpu records them with the waits. "
#define NAMED 2u /* waits that the sentence names */

static void write_html(struct output *to, const char *text) {
    out_markup(to, text, strlen(text));
}

static const char *meta_of(const struct page_data *d, const char *key) {
    const pfr_fact *fact;
    for (uint32_t i = 0; d && (fact = pfr_model_meta(d->described, i)); i++)
        if (strcmp(fact->key, key) == 0)
            return fact->text;
    return NULL;
}

static void write_title(const struct page_data *d, const pfr_view_options *o, struct output *to) {
    const char *command = o->no_command_line ? NULL : meta_of(d, "cmdline");
    write_html(to, o->title ? o->title : command ? command : o->subject ? o->subject : "perfray view");
}

static void write_policy(struct output *to) {
    out_text(to, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '");
    out_text(to, view_script_hash);
    out_text(to, "'; style-src '");
    out_text(to, view_style_hash);
    out_text(to, "'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n");
}

/* --- Facts. */

static void write_number(struct output *to, uint64_t number, const char *unit) {
    char digits[32];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            out_text(to, "&#8201;");
        out_char(to, digits[i]);
    }
    out_text(to, unit);
}

static void write_duration(const struct page_data *d, struct output *to) {
    char text[48];
    const uint64_t span = d->end > d->begin ? d->end - d->begin : 0;
    if (!span || pfr_model_ticks(d->tables.model))
        return;
    if (span >= 1000000000)
        snprintf(text, sizeof text, " · %.1f s", (double)span / 1e9);
    else
        snprintf(text, sizeof text, span >= 1000000 ? " · %.0f ms" : " · %.3f ms", (double)span / 1e6);
    out_text(to, text);
}

static void write_threads(const struct page_data *d, struct output *to) {
    uint32_t old = 0;
    for (uint32_t i = 0; i < d->nr_threads; i++)
        old += page_data_is_of_baseline(d, d->threads[i]);
    const uint32_t shown = d->nr_threads - old;
    write_number(to, shown, shown == 1 ? " thread" : " threads");
    if (!d->baseline)
        return;
    out_text(to, ", ");
    write_number(to, old, " of the baseline");
}

/* Events without samples, such as the dummy event of system-wide recordings, are named only if there are no others. */
static void write_events(const struct page_data *d, struct output *to) {
    const uint32_t events = pfr_model_count(d->described, PFR_TABLE_EVENT);
    bool any = false, first = true;
    for (uint32_t id = 1; id <= events; id++)
        any |= pfr_model_get_event(d->described, id)->samples > 0;
    for (uint32_t id = 1; id <= events; id++) {
        const pfr_model_event *event = pfr_model_get_event(d->described, id);
        if (any && !event->samples)
            continue;
        out_text(to, first ? "" : ", ");
        write_html(to, event->name);
        first = false;
    }
}

static void write_facts(const struct page_data *d, struct output *to) {
    static const char *const keys[] = {"hostname", "osrelease", "arch"};
    const uint64_t samples = pfr_model_sample_count(d->described), calls = pfr_model_call_count(d->described);
    out_text(to, "<p id=\"facts\">");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (meta_of(d, keys[i])) {
            write_html(to, meta_of(d, keys[i]));
            out_text(to, " · ");
        }
    write_events(d, to);
    write_duration(d, to);
    out_text(to, " · ");
    write_threads(d, to);
    if (samples) {
        out_text(to, " · ");
        write_number(to, samples, samples == 1 ? " sample" : " samples");
    }
    if (calls) {
        out_text(to, " · ");
        write_number(to, calls, calls == 1 ? " call" : " calls");
    }
    out_text(to, "</p>\n");
}

static bool is_of_baseline(const char *loss) {
    return strncmp(loss, PAGE_OF_BASELINE, strlen(PAGE_OF_BASELINE)) == 0;
}

/* Writes the first sentence, which is about the newer recording if that recording lost anything. In
   a comparison, also writes the first sentence about the baseline. */
static void write_first_losses(const struct page_data *d, struct output *to) {
    write_html(to, d->losses[0]);
    if (!d->baseline || is_of_baseline(d->losses[0]))
        return;
    for (char **loss = d->losses; *loss; loss++)
        if (is_of_baseline(*loss)) {
            out_text(to, ";<br>"); /* on a line of its own, because the end of a long line is cut */
            write_html(to, *loss);
            return;
        }
}

static void write_losses(const struct page_data *d, struct output *to) {
    size_t count = 0;
    while (d->losses && d->losses[count])
        count++;
    out_text(to, count ? "<button id=\"losses\" class=\"lossy\">▲ " : "<button id=\"losses\" class=\"clean\">");
    if (count > 1) { /* the count comes first, because the end of a long sentence is cut */
        char notes[32];
        snprintf(notes, sizeof notes, "%zu notes: ", count);
        out_text(to, notes);
    }
    count ? write_first_losses(d, to) : out_text(to, "nothing lost");
    out_text(to, "</button>\n");
}

/* --- The sentence about where the time goes. */

static const char *func_name_of(const struct page_data *d, uint32_t func) {
    return intern_chars(&d->tables.texts, d->tables.funcs[func].name);
}

static double share_of(const struct page_data *d, uint64_t weight) {
    return d->tables.total ? 100.0 * (double)weight / (double)d->tables.total : 0;
}

static double share_of_waits(const struct page_data *d, const struct page_wait *wait) {
    return d->waits.grouped ? 100.0 * (double)page_wait_closed(wait) / (double)d->waits.grouped : 0;
}

/* Writes "All threads waited 1.20 s: ", or "1 200 context switches of all threads: " if the times of waits are not
   known. */
static void write_waited(const struct page_data *d, struct output *to) {
    const uint64_t ns = d->waits.grouped;
    char text[80];
    if (d->waits.has_counts) {
        write_number(to, ns, ns == 1 ? " context switch" : " context switches");
        out_text(to, d->waits.of_command ? " of the recorded command: " : " of all threads: ");
        return;
    }
    out_text(to, d->waits.of_command ? "Threads of the recorded command waited " : "All threads waited ");
    snprintf(text, sizeof text,
             ns >= 1000000000 ? "%.2f s: " : "%.3g ms: ", (double)ns / (ns >= 1000000000 ? 1e9 : 1e6));
    out_text(to, text);
}

/* Names the options of perfray record with which a recording would have the missing times and
   reasons of waits; "": neither is missing. */
static const char *advice_for(const struct page_waits *w) {
    const bool nothing = w->groups->reason <= PFR_WAIT_OTHER && !w->groups->func;
    if (w->has_counts)
        return nothing ? " Times and reasons need record --off-cpu." : " Their times need record --off-cpu.";
    return nothing ? " Reasons need call chains (record --off-cpu)." : "";
}

static void write_wait_answer(const struct page_data *d, struct output *to) {
    char text[80];
    if (!d->waits.grouped) {
        out_text(to, "No wait began and ended in the recording.");
        return;
    }
    write_waited(d, to);
    for (size_t i = 0; i < NAMED && i < d->waits.nr_groups; i++) {
        snprintf(text, sizeof text, "%s%.1f %% ", i ? "; " : "", share_of_waits(d, &d->waits.groups[i]));
        out_text(to, text);
        page_wait_write(&d->waits.groups[i], &d->tables, to);
    }
    out_char(to, '.');
    out_text(to, advice_for(&d->waits));
}

/* Folds template arguments, and cuts the name if it is still long: the table and the views show the
   whole name. Names of 4096 bytes or more are written unchanged. */
static void write_short_name(const char *name, struct output *to) {
    char text[4096];
    const size_t all = strlen(name);
    if (all >= sizeof text) {
        write_html(to, name);
        return;
    }
    memcpy(text, name, all + 1);
    size_t length = fold_templates(text, all, false);
    const bool is_cut = length > ANSWER_NAME_MOST;
    if (is_cut)
        for (length = ANSWER_NAME_MOST; length && ((uint8_t)text[length] & 0xc0) == 0x80;)
            length--; /* back to the start of a UTF-8 character */
    text[length] = '\0';
    write_html(to, text);
    out_text(to, is_cut ? "…" : "");
}

/* --- The heaviest functions: those of the recorded command, if its threads have samples. */

#define NO_FUNC UINT32_MAX

static uint64_t self_of(const struct page_data *d, uint32_t func) {
    return d->own_total ? d->own_self[func] : d->tables.funcs[func].self;
}

/* Returns NO_FUNC if no function but `other` has weight. */
static uint32_t heaviest_but(const struct page_data *d, uint32_t other) {
    uint32_t found = NO_FUNC;
    for (uint32_t i = 0; i < d->tables.nr_funcs; i++)
        if (i != other && self_of(d, i) > (found == NO_FUNC ? 0 : self_of(d, found)))
            found = i;
    return found;
}

static void write_share(const struct page_data *d, uint32_t func, struct output *to) {
    char share[32];
    const uint64_t whole = d->own_total ? d->own_total : d->tables.total;
    snprintf(share, sizeof share, "%.1f %% in ", 100.0 * (double)self_of(d, func) / (double)whole);
    out_text(to, share);
    write_short_name(func_name_of(d, func), to);
}

static void write_functions(const struct page_data *d, struct output *to) {
    const uint32_t first = heaviest_but(d, NO_FUNC), second = first == NO_FUNC ? NO_FUNC : heaviest_but(d, first);
    if (first == NO_FUNC) {
        out_text(to, "Nothing was recorded.");
        return;
    }
    out_text(to, d->own_total ? "Threads of the recorded command: " : d->nr_threads > 1 ? "All threads: " : "");
    write_share(d, first, to);
    out_text(to, second == NO_FUNC ? "" : ", ");
    if (second != NO_FUNC)
        write_share(d, second, to);
    out_text(to, " itself.");
}

static void write_answer(const struct page_data *d, struct output *to) {
    out_text(to, "<p id=\"answer\">");
    out_text(to, d->only_switches ? NO_CPU_SAMPLES : "");
    if (!d->only_switches)
        write_functions(d, to);
    if (!d->only_switches && d->waits.blocked)
        out_char(to, ' ');
    if (d->only_switches || d->waits.blocked)
        write_wait_answer(d, to);
    out_text(to, "</p>\n");
}

static void write_table_row(const struct page_data *d, uint32_t func, struct output *to) {
    char text[160];
    const pfr_model_object *object = pfr_model_get_object(d->tables.model, d->tables.funcs[func].object);
    snprintf(text, sizeof text, "<tr><td class=\"number\">%.2f %%</td><td class=\"number\">%" PRIu64 "</td><td>",
             share_of(d, d->tables.funcs[func].self), d->tables.funcs[func].self);
    out_text(to, text);
    write_html(to, func_name_of(d, func));
    out_text(to, "</td><td>");
    write_html(to, object ? object->name : "");
    out_text(to, "</td></tr>\n");
}

static void write_wait_row(const struct page_data *d, const struct page_wait *wait, struct output *to) {
    char text[160];
    snprintf(text, sizeof text, "<tr><td class=\"number\">%.2f %%</td><td class=\"number\">%" PRIu64 "</td><td>",
             share_of_waits(d, wait), page_wait_closed(wait));
    out_text(to, text);
    page_wait_write(wait, &d->tables, to);
    out_text(to, "</td></tr>\n");
}

static void write_wait_table(const struct page_data *d, struct output *to) {
    out_text(to, "<table><thead><tr><th class=\"number\">share</th><th class=\"number\">");
    out_text(to, d->waits.has_counts ? "switches" : "ns waited");
    out_text(to, "</th><th>wait</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < LISTED && i < d->waits.nr_groups; i++)
        write_wait_row(d, &d->waits.groups[i], to);
    out_text(to, "</tbody></table>\n");
}

static void write_func_table(const struct page_data *d, struct output *to) {
    out_text(to, "<table><thead><tr><th class=\"number\">self</th><th class=\"number\">weight</th><th>function</th>"
                 "<th>object</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < LISTED && i < d->tables.nr_funcs && d->tables.funcs[i].self; i++)
        write_table_row(d, i, to);
    out_text(to, "</tbody></table>\n");
}

static void write_table(const struct page_data *d, struct output *to) {
    out_text(to,
             "<section id=\"static\">\n<noscript><p>The views need JavaScript; this table does not.</p></noscript>\n");
    d->only_switches ? write_wait_table(d, to) : write_func_table(d, to);
    out_text(to, "</section>\n");
}

void page_head_write(const struct page_data *d, const pfr_view_options *o, struct output *to) {
    out_text(to, PAGE_BEGIN);
    out_text(to, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    write_policy(to);
    out_text(to, "<title>");
    write_title(d, o, to);
    out_text(to, " – perfray</title>\n<style>");
    out_write(to, view_style, sizeof view_style);
    out_text(to, "</style>\n</head>\n<body>\n<header id=\"head\">\n<h1>");
    write_title(d, o, to);
    out_text(to, "</h1>\n");
    if (d) {
        write_facts(d, to);
        write_losses(d, to);
        write_answer(d, to);
    }
    out_text(to, "</header>\n");
    if (d)
        write_table(d, to);
}

void page_tail_write(struct output *to) {
    out_text(to, "<script type=\"module\">");
    out_write(to, view_script, sizeof view_script);
    out_text(to, "</script>\n</body>\n</html>\n");
}
