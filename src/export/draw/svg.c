/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the image from top to bottom: see svg.h. Style and script are flame.css and flame.js beside this file. */
#include "export/draw/svg.h"

#include "base/text/escape.h"
#include "base/text/text.h"
#include "export/draw/flame_page.h"
#include "file/read/event_name.h"

#include <inttypes.h>
#include <stdio.h>

enum { MARGIN = 12, TOP = 66, ROW = 18, BOX = 17, FOOT = 58, TONES = 4, TEXT_DOWN = 12 };
#define LETTER 7.25      /* width in pixels of a fixed-width letter of 12 pixels */
#define LETTERS_LEAST 3u /* a box with room for fewer letters gets no text */
#define RUN_LETTERS 32u  /* most letters that the frame count of a run takes */

void svg_number(struct output *to, uint64_t value) {
    char digits[20];
    const size_t length = format_u64(digits, value);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            out_char(to, ',');
        out_char(to, digits[i]);
    }
}

/* Writes a rounded number, such as "4.56 G". */
static void write_rounded(struct output *to, uint64_t value) {
    static const char prefixes[] = "kMGTPE";
    double scaled = (double)value;
    int at = -1;
    for (; scaled >= 999.5; at++)
        scaled /= 1000;
    out_f64(to, scaled, scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0);
    out_char(to, ' ');
    out_char(to, prefixes[at]);
}

static void write_amount(struct output *to, uint64_t value, const char *unit) {
    char text[TEXT_TIME_SIZE];
    if (strcmp(unit, "ns") == 0) {
        format_duration(text, value);
        const size_t digits = strspn(text, "0123456789.");
        out_write(to, text, digits);
        out_char(to, ' ');
        out_text(to, text + digits);
        return;
    }
    if (value < 10000)
        svg_number(to, value);
    else
        write_rounded(to, value);
    out_char(to, ' ');
    out_markup(to, unit, strlen(unit));
}

static const char *unit_of_periods(const struct exporting *e) {
    const pfr_event *event = NULL;
    for (uint32_t i = 0; i < e->profile->nr_events && !event; i++)
        if (e->profile->totals[i].samples)
            event = profile_event(e->reader, i);
    const char *unit = event ? event_unit(event) : "events";
    return unit ? unit : event->name;
}

void svg_counted(const struct exporting *e, uint64_t number, struct output *to) {
    const struct profile_measure *measure = profile_measure(e->reader);
    const uint64_t amount = amount_of(e, number);
    if (e->by_weight) {
        write_amount(to, amount, measure->is_amount ? profile_event(e->reader, 0)->unit : unit_of_periods(e));
        return;
    }
    svg_number(to, amount);
    out_char(to, ' ');
    out_write(to, measure->counted, strlen(measure->counted) - (number == 1)); /* without the plural s for 1 */
}

static double part_of(const struct picture *p, uint64_t weight) {
    return p->geometry->whole ? (double)weight / (double)p->geometry->whole : 0;
}

/* --- Text of a box. */

struct box_words {
    struct intern_text name, object;
    struct stack_run run; /* frames that the box represents */
    char style[3];        /* class: kind and tone */
};

/* The label of a frame consists of its name, NUL, its kind, and its object: see flame.c. */
static struct box_words words_of(const struct picture *p, const struct box *box) {
    struct box_words w = {.name = {(const uint8_t *)"all", 3}, .style = "a", .run = {1, 1}};
    if (box->node == NO_NODE)
        return w;
    const struct stacks *stacks = &p->e->stacks;
    if (box->node < stacks->nr_roots) {
        w.name = label_bytes(&stacks->groups, stacks->label[box->node]);
        w.style[0] = 'p';
    } else {
        const struct intern_text label = label_bytes(&stacks->frames, stacks->label[box->node]);
        const uint8_t *nul = memchr(label.bytes, '\0', label.length);
        w.name = (struct intern_text){label.bytes, (uint32_t)(nul - label.bytes)};
        w.object = (struct intern_text){nul + 2, label.length - w.name.length - 2};
        w.style[0] = (char)nul[1];
        w.run = stacks->runs ? stacks->runs[box->node] : w.run;
    }
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < w.name.length; i++)
        hash = (hash ^ w.name.bytes[i]) * 16777619u;
    w.style[1] = (char)('0' + (hash >> 16) % TONES);
    return w;
}

/* Writes " (12 frames)", or " (up to 12 frames)" if the stacks of the box differ in their number of frames. */
static void write_run(const struct stack_run *run, struct output *to) {
    if (run->most < 2)
        return;
    out_text(to, run->least < run->most ? " (up to " : " (");
    svg_number(to, run->most);
    out_text(to, " frames)");
}

/* Writes as many letters as fit in the box; a shortened name ends with dots. */
static void write_short_name(const struct picture *p, const struct box *box, const struct box_words *w,
                             struct output *to) {
    const struct intern_text *const name = &w->name;
    const double pixels = part_of(p, box->weight) * (p->width - 2 * MARGIN);
    const double letters = (pixels - 6) / LETTER;
    const uint32_t most = letters < LETTERS_LEAST ? 0 : letters < 4096 ? (uint32_t)letters : 4096;
    uint32_t used = 0, cut = 0, count = 0, code;
    for (; used < name->length && count <= most; count++) {
        const size_t took = utf8_take(name->bytes + used, name->length - used, &code);
        used += took ? (uint32_t)took : 1;
        if (count + 2 <= most)
            cut = used;
    }
    if (most == 0)
        return;
    out_markup(to, name->bytes, count <= most ? used : cut);
    if (count > most)
        out_text(to, "..");
    else if (count + RUN_LETTERS <= most)
        write_run(&w->run, to);
}

/* --- Boxes. */

static uint32_t top_of(const struct picture *p, const struct box *box) {
    const uint32_t row = p->upward ? p->geometry->rows - 1 - box->row : box->row;
    return row * ROW;
}

static void write_title(const struct picture *p, const struct box *box, const struct box_words *w, struct output *to) {
    out_text(to, "<title>");
    out_markup(to, w->name.bytes, w->name.length);
    write_run(&w->run, to);
    out_char(to, '\n');
    out_markup(to, w->object.bytes, w->object.length);
    out_text(to, w->object.length ? "\n" : "");
    svg_counted(p->e, box->weight, to);
    out_text(to, ", ");
    out_f64(to, part_of(p, box->weight) * 100, 2);
    out_text(to, " %</title>");
}

static void write_box(const struct picture *p, const struct box *box, struct output *to) {
    const struct box_words w = words_of(p, box);
    out_text(to, "<svg class=\"");
    out_text(to, w.style);
    out_text(to, "\" x=\"");
    out_f64(to, part_of(p, box->from) * 100, 5);
    out_text(to, "%\" y=\"");
    out_u64(to, top_of(p, box));
    out_text(to, "\" width=\"");
    out_f64(to, part_of(p, box->weight) * 100, 5);
    out_text(to, "%\" height=\"17\">");
    write_title(p, box, &w, to);
    out_text(to, "<rect width=\"100%\" height=\"17\" rx=\"1.5\"/><text x=\"4\" y=\"12.5\">");
    write_short_name(p, box, &w, to);
    out_text(to, "</text></svg>\n");
}

/* --- Head and foot. */

static void write_begin(const struct picture *p, uint32_t height, struct output *to) {
    char text[400];
    snprintf(text, sizeof text,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" "
             "width=\"%" PRIu32 "\" height=\"%" PRIu32 "\"%s data-upward=\"%d\">\n",
             p->width, height, p->fixed ? " data-fixed=\"1\"" : "", p->upward);
    out_text(to, text);
    out_text(to, "<title>");
    out_markup(to, p->title, strlen(p->title));
    out_text(to, "</title>\n<style>\n");
    out_text(to, flame_css);
    out_text(to, "</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n"
                 "<text class=\"ruler\" x=\"-9999\" y=\"-99\">MMMMMMMMMM</text>\n");
}

/* Elements that the script fills in; they are invisible without it. */
static void write_tools(struct output *to) {
    out_text(to, "<svg class=\"tools\" x=\"100%\" overflow=\"visible\" display=\"none\">"
                 "<foreignObject x=\"-252\" y=\"11\" width=\"240\" height=\"30\">"
                 "<input xmlns=\"http://www.w3.org/1999/xhtml\" type=\"search\" placeholder=\"search ( / )\" "
                 "aria-label=\"search\" spellcheck=\"false\" autocomplete=\"off\"/></foreignObject>"
                 "<text class=\"matched sub\" x=\"-12\" y=\"57\" text-anchor=\"end\"></text>"
                 "<g class=\"reset\" role=\"button\" tabindex=\"0\" display=\"none\">"
                 "<rect x=\"-358\" y=\"13\" width=\"94\" height=\"24\" rx=\"4\"/>"
                 "<text x=\"-311\" y=\"29.5\" text-anchor=\"middle\">reset zoom</text></g></svg>\n");
}

static void write_head(const struct picture *p, struct output *to) {
    out_text(to, "<g class=\"top\"><rect class=\"page\" width=\"100%\" height=\"64\"/>\n<text class=\"head\" x=\"12\" "
                 "y=\"29\">");
    out_markup(to, p->title, strlen(p->title));
    out_text(to, "</text>\n<text class=\"sub\" x=\"12\" y=\"50\">");
    out_markup(to, p->subtitle, strlen(p->subtitle));
    out_text(to, "</text>\n");
    write_tools(to);
    out_text(to, "</g>\n");
}

static void write_legend(struct output *to) {
    static const struct {
        const char *style, *words;
        int at;
    } kinds[] = {{"u1", "program", -318}, {"k1", "kernel", -238}, {"n1", "no name", -162}, {"p1", "process", -80}};
    char text[200];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(text, sizeof text,
                 "<g class=\"%s\"><rect x=\"%d\" y=\"-10\" width=\"12\" height=\"12\" rx=\"2\"/></g>"
                 "<text class=\"sub\" x=\"%d\" y=\"0\">%s</text>",
                 kinds[i].style, kinds[i].at, kinds[i].at + 17, kinds[i].words);
        out_text(to, text);
    }
}

/* Head and foot are drawn last, so that they cover the boxes that scroll under them. */
static void write_foot(const struct picture *p, uint32_t top, uint64_t limited, struct output *to) {
    char text[300];
    snprintf(text, sizeof text,
             "<g class=\"bottom\"><rect class=\"page\" y=\"%" PRIu32 "\" width=\"100%%\" height=\"%d\"/>\n"
             "<text class=\"details\" x=\"12\" y=\"%" PRIu32 "\"></text>\n<text class=\"sub\" x=\"12\" y=\"%" PRIu32
             "\">",
             top + 2, FOOT - 2, top + 22, top + 44);
    out_text(to, text);
    if (p->geometry->left_out) {
        svg_number(to, p->geometry->left_out);
        out_text(to, p->geometry->left_out == 1 ? " frame is too narrow to be drawn"
                                                : " frames are too narrow to be drawn");
    }
    if (limited) {
        out_text(to, p->geometry->left_out ? ", " : "");
        svg_number(to, limited);
        out_text(to, limited == 1 ? " is left out [limit]" : " are left out [limit]");
    }
    snprintf(text, sizeof text, "</text>\n<svg x=\"100%%\" y=\"%" PRIu32 "\" overflow=\"visible\">", top + 44);
    out_text(to, text);
    write_legend(to);
    out_text(to, "</svg></g>\n");
}

/* Draws the boxes row by row, up to the limit. Returns the number of boxes that are not drawn. */
static uint64_t write_boxes(const struct picture *p, struct output *to) {
    const struct geometry *g = p->geometry;
    const uint64_t begin = out_written(to);
    uint32_t i = 0;
    for (; i < g->count && out_written(to) - begin <= p->e->room; i++)
        write_box(p, &g->boxes[i], to);
    return g->count - i;
}

uint64_t svg_write(const struct picture *p, struct output *to) {
    char text[200];
    const struct geometry *g = p->geometry;
    const uint32_t boxes = g->rows * ROW;
    write_begin(p, TOP + boxes + FOOT, to);
    snprintf(text, sizeof text,
             "<svg class=\"frames\" x=\"%d\" y=\"%d\" width=\"%" PRIu32 "\" height=\"%" PRIu32 "\">\n", MARGIN, TOP,
             p->width - 2 * MARGIN, boxes);
    out_text(to, text);
    const uint64_t limited = write_boxes(p, to);
    out_text(to, "</svg>\n");
    write_head(p, to);
    write_foot(p, TOP + boxes, limited, to);
    out_text(to, "<script><![CDATA[\n");
    out_text(to, flame_js);
    out_text(to, "]]></script>\n</svg>\n");
    return limited;
}
