/* SPDX-License-Identifier: Apache-2.0 */
/* Words, numbers and heading lines that several output forms share. */
#include "view/diff/diff_view.h"

#include "base/text/escape.h"
#include "model/diff/diff_values.h"

#include <math.h>
#include <stdio.h>

const char *diff_per_words(pfr_diff_per per) {
    static const char *const words[] = {
        [PFR_DIFF_PER_TOTAL] = "percent of each side's total (default; comparable although sides differ in length)",
        [PFR_DIFF_PER_RUN] = "sum of weights in a recording",
        [PFR_DIFF_PER_SECOND] = "weight per second of recording",
        [PFR_DIFF_PER_SAMPLE] = "weight per sample",
        [PFR_DIFF_PER_EVENT] = "weight per unit of event",
        [PFR_DIFF_PER_CALL] = "weight per call of"};
    return words[per];
}

static bool counts_time(const pfr_diff *d) {
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < d->sides[side].count; i++) {
            const struct diff_series *s = &d->sides[side].runs[i];
            const char *const unit = s->event ? pfr_model_get_event(s->run.model, s->event)->unit : NULL;
            if (!unit || strcmp(unit, "ns") != 0)
                return false;
        }
    return true;
}

/* A unit in which `largest` has at most four digits before the point, and five in ms so that short times are seen. */
static struct diff_unit unit_for(const pfr_diff *d, double largest) {
    static const struct {
        double most;
        struct diff_unit unit;
    } units[] = {{1e4, {1, "ns"}}, {1e7, {1e-3, "us"}}, {1e11, {1e-6, "ms"}}, {INFINITY, {1e-9, "s"}}};
    size_t i = 0;
    if (!counts_time(d))
        return (struct diff_unit){1, ""};
    while (largest >= units[i].most && !isinf(units[i].most))
        i++;
    return units[i].unit;
}

struct diff_unit diff_unit_of_rows(const pfr_diff *d) {
    const pfr_diff_value *v = &d->rows[0].self;
    return d->options.per == PFR_DIFF_PER_TOTAL ? (struct diff_unit){1, ""} : unit_for(d, fmax(v->base, v->changed));
}

void out_unit(const pfr_diff *d, struct output *to) {
    const struct diff_unit unit = diff_unit_of_rows(d);
    out_text(to, *unit.name ? ", in " : "");
    out_text(to, unit.name);
}

unsigned diff_decimals(const pfr_diff *d) {
    return d->options.per == PFR_DIFF_PER_TOTAL ? 2 : 3;
}

bool diff_is_shown(const struct diff_print *print, uint32_t index, uint32_t *shown, uint32_t *noise) {
    const uint32_t most = print->o.rows ? print->o.rows : 40, most_noise = print->o.rows ? print->o.rows : 10;
    const bool is_noise = print->d->rows[index].self.verdict == PFR_DIFF_NOISE;
    if (*shown >= most || (is_noise && *noise >= most_noise))
        return false;
    ++*shown;
    *noise += is_noise;
    return true;
}

void out_fixed(struct output *to, double value, unsigned decimals, unsigned width) {
    char text[400];
    const int length = snprintf(text, sizeof text, "%*.*f", (int)width, (int)decimals, value);
    out_write(to, text, length > 0 ? (size_t)length : 0);
}

void out_signed(struct output *to, double value, unsigned decimals, unsigned width) {
    char text[400];
    if (isinf(value)) { /* unknown end of an interval */
        out_text_wide(to, "?", 1, width);
        return;
    }
    const int length = snprintf(text, sizeof text, "%+*.*f", (int)width, (int)decimals, value);
    out_write(to, text, length > 0 ? (size_t)length : 0);
}

void out_probability(struct output *to, double q, unsigned width) {
    if (q < 0.001)
        out_text_wide(to, "<0.001", 6, width);
    else
        out_fixed(to, q, 3, width);
}

void out_amount(struct output *to, double value) {
    static const char units[] = " kMGTPE";
    unsigned unit = 0;
    while (fabs(value) >= 1000 && unit + 1 < sizeof units - 1) {
        value /= 1000;
        unit++;
    }
    out_fixed(to, value, unit ? 2 : 0, 0);
    if (unit) {
        out_char(to, ' ');
        out_char(to, units[unit]);
    }
}

void out_name(struct output *to, const char *name) {
    out_escaped(to, name, strlen(name));
}

/* --- Lines of the head. */

static void put_total(double value, const struct diff_unit *unit, struct output *to) {
    if (!*unit->name) {
        out_amount(to, value);
        return;
    }
    out_fixed(to, value * unit->by, 3, 0);
    out_char(to, ' ');
    out_text(to, unit->name);
}

void diff_total_line(const pfr_diff *d, struct output *to) {
    const pfr_diff_value *v = &d->rows[0].self;
    const double by = v->base > 0 ? 100 / v->base : 0;
    const pfr_diff_per per = d->options.per;
    const double unit = per == PFR_DIFF_PER_TOTAL ? d->sides[0].runs[0].weight / 100 : 1;
    if (d->sides[0].count == 1 || per != PFR_DIFF_PER_TOTAL) {
        const struct diff_unit of_weight = unit_for(d, fmax(v->base, v->changed) * unit);
        put_total(v->base * unit, &of_weight, to);
        out_text(to, " -> ");
        put_total(v->changed * unit, &of_weight, to);
        out_text(to, "  ");
    }
    out_signed(to, v->delta * by, 2, 0);
    if (isinf(v->low)) {
        out_text(to, " %, interval not known");
        return;
    }
    out_text(to, " % [");
    out_signed(to, v->low * by, 2, 0);
    out_text(to, ", ");
    out_signed(to, v->high * by, 2, 0);
    if (!diff_total_is_judged(d)) {
        out_text(to, "] within these recordings, no verdict");
        return;
    }
    out_text(to, "], p ");
    out_probability(to, v->p, 0);
    out_text(to, ": ");
    out_text(to, pfr_diff_verdict_name(v->verdict));
}

void diff_counts_line(const pfr_diff *d, struct output *to) {
    uint32_t counts[PFR_DIFF_GONE + 1] = {0};
    for (uint32_t i = 1; i < d->nr_rows; i++)
        counts[d->rows[i].self.verdict]++;
    for (unsigned v = PFR_DIFF_SLOWER; v <= PFR_DIFF_GONE; v++) {
        out_u64(to, counts[v]);
        out_char(to, ' ');
        out_text(to, pfr_diff_verdict_name((pfr_diff_verdict)v));
        out_text(to, ", ");
    }
    out_u64(to, counts[PFR_DIFF_NOISE]);
    out_text(to, " noise");
}

static void one_recording_line(const struct diff_series *s, struct output *to) {
    const double seconds = s->begin == PFR_NO_TIME || s->has_slots ? 0 : (double)(s->end - s->begin) * 1e-9;
    out_name(to, s->run.name);
    out_text(to, ": ");
    out_u64(to, s->samples);
    out_text(to, s->event && pfr_model_get_event(s->run.model, s->event)->is_traced ? " calls" : " samples");
    if (seconds > 0) {
        out_text(to, " in ");
        out_fixed(to, seconds, 3, 0);
        out_text(to, " s");
    }
    out_text(to, ", ");
    out_u64(to, s->slots);
    out_text(to, !s->has_slots ? " slots of time" : s->slots == 1 ? " slot of the store" : " slots of the store");
    if (!s->has_interval)
        return;
    out_text(to, ", blocks of ");
    out_u64(to, s->block);
    if (seconds > 0) {
        out_text(to, " (");
        out_fixed(to, seconds * 1000 * s->block / s->slots, 1, 0);
        out_text(to, " ms)");
    }
}

void diff_side_line(const pfr_diff *d, enum diff_side_name name, struct output *to) {
    const struct diff_side *side = &d->sides[name];
    uint64_t samples = 0;
    for (uint32_t i = 0; i < side->count; i++)
        samples += side->runs[i].samples;
    if (side->count == 1) {
        one_recording_line(&side->runs[0], to);
        return;
    }
    out_u64(to, side->count);
    out_text(to, " recordings (");
    for (uint32_t i = 0; i < side->count; i++) {
        out_text(to, i ? ", " : "");
        out_name(to, side->runs[i].run.name);
    }
    out_text(to, "), ");
    out_u64(to, samples);
    out_text(to, " samples");
}
