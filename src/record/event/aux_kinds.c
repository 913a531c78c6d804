/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PMUs that write trace data into an AUX area: their names in sysfs, their default terms, and the words that their
 * decoders need (record AUXTRACE_INFO). The decoders of perf define these words: tools/perf/util/intel-pt.h,
 * intel-bts.h, arm-spe.h, hisi-ptt.h. CoreSight is not supported, because its decoder needs registers of every trace
 * component.
 */
#include <stdio.h>
#include <string.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif
#include <linux/perf_event.h>

#include "record/event/event.h"

#define DEVICE "bus/event_source/devices/"

/* --- Intel PT --- */

static int64_t hex_cap(const struct kernel *kernel, const char *name) {
    char text[32];
    unsigned value;
    const bool known = kernel_text(text, sizeof text, kernel->sys, DEVICE "intel_pt/caps/%s", name) > 0;
    return known && sscanf(text, "%x", &value) == 1 ? (int64_t)value : 0;
}

/* The highest set bit up to `request`; if there is no such bit, the lowest set bit. */
static unsigned nearest_below(uint64_t bits, unsigned request) {
    unsigned best = 64;
    for (unsigned i = 0; i < 32; i++)
        if (bits >> i & 1 && (i <= request || best == 64))
            best = i;
    return best;
}

static bool has_format(const struct kernel *kernel, const char *name) {
    char text[64];
    return kernel_text(text, sizeof text, kernel->sys, DEVICE "intel_pt/format/%s", name) > 0;
}

/* Default terms of Intel PT: timestamps and branches; mtc and psb periods of about 2^3. */
static void pt_terms(const struct kernel *kernel, char *to, size_t room) {
    const uint64_t timings =
        kernel_number(1, kernel->sys, DEVICE "intel_pt/caps/mtc") ? (uint64_t)hex_cap(kernel, "mtc_periods") : 0;
    const uint64_t syncs = timings && kernel_number(1, kernel->sys, DEVICE "intel_pt/caps/psb_cyc")
                               ? (uint64_t)hex_cap(kernel, "psb_periods")
                               : 0;
    int used = snprintf(to, room, "tsc");
    if (timings)
        used += snprintf(to + used, room - (size_t)used, ",mtc,mtc_period=%u", nearest_below(timings, 3));
    if (syncs)
        used += snprintf(to + used, room - (size_t)used, ",psb_period=%u", nearest_below(syncs, 3));
    if (has_format(kernel, "pt") && has_format(kernel, "branch"))
        snprintf(to + used, room - (size_t)used, ",pt,branch");
}

/* Gets the lowest bit, and all bits, of a format such as "config:14-17". */
static void bits_of(const struct kernel *kernel, const char *name, uint64_t *lowest, uint64_t *all) {
    char text[64];
    unsigned first, last;
    *lowest = *all = 0;
    if (kernel_text(text, sizeof text, kernel->sys, DEVICE "intel_pt/format/%s", name) <= 0)
        return;
    const int found = sscanf(text, "config:%u-%u", &first, &last);
    if (found < 1 || first > 63)
        return;
    *lowest = 1ull << first;
    for (unsigned bit = first; bit <= (found == 2 && last < 64 ? last : first); bit++)
        *all |= 1ull << bit;
}

/* Ratio of the TSC to the crystal clock, from cpuid leaf 0x15. */
static void clock_ratio(uint64_t *numerator, uint64_t *denominator) {
    unsigned a = 0, b = 0, c = 0, d = 0;
#if defined __x86_64__ || defined __i386__
    __get_cpuid(0x15, &a, &b, &c, &d);
#endif
    (void)c, (void)d;
    *numerator = b;
    *denominator = a;
}

static size_t put_clock(const struct aux_facts *f, uint64_t *words) {
    const struct perf_event_mmap_page *const page = f->page;
    const bool known = page->cap_user_time_zero;
    words[0] = known ? page->time_shift : 0;
    words[1] = known ? page->time_mult : 0;
    words[2] = known ? page->time_zero : 0;
    words[3] = known;
    return 4;
}

static size_t put_pt_info(const struct aux_facts *f, uint64_t *words) {
    const struct kernel *const k = f->kernel;
    uint64_t all;
    put_clock(f, words);
    bits_of(k, "tsc", &words[4], &all);
    bits_of(k, "noretcomp", &words[5], &all);
    words[6] = f->by_cpu ? 3 : 2; /* context switch records: 3: of CPUs; 2: of tasks */
    words[7] = 0;                 /* not in snapshot mode: the area is read as it fills */
    words[8] = !f->per_thread;
    bits_of(k, "mtc", &words[9], &all);
    bits_of(k, "mtc_period", &all, &words[10]);
    clock_ratio(&words[11], &words[12]);
    bits_of(k, "cyc", &words[13], &all);
    words[14] = (uint64_t)kernel_number(0, k->sys, DEVICE "intel_pt/max_nonturbo_ratio");
    words[15] = 0; /* length of the address filter */
    return 16;
}

/* --- other PMUs --- */

static size_t put_bts_info(const struct aux_facts *f, uint64_t *words) {
    const size_t count = put_clock(f, words);
    words[count] = 0; /* not in snapshot mode */
    return count + 1;
}

static size_t put_spe_info(const struct aux_facts *f, uint64_t *words) {
    words[0] = !f->per_thread;
    return 1;
}

static size_t put_no_info(const struct aux_facts *f, uint64_t *words) {
    (void)f, (void)words;
    return 0;
}

static const struct aux_kind kinds[] = {
    {"intel_pt", false, 1, pt_terms, put_pt_info},
    {"intel_bts", false, 2, NULL, put_bts_info},
    {"arm_spe_", true, 4, NULL, put_spe_info},
    {"hisi_ptt", true, 6, NULL, put_no_info},
};

const struct aux_kind *aux_kind_of(const char *pmu) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].numbered ? strncmp(pmu, kinds[i].pmu, strlen(kinds[i].pmu)) == 0 : !strcmp(pmu, kinds[i].pmu))
            return &kinds[i];
    return NULL;
}
