/* SPDX-License-Identifier: Apache-2.0 */
/* See elsewhere.h. */
#include "elsewhere.h"

#include <stddef.h>
#include <string.h>

struct elsewhere {
    const char *verb, *text;
};

static const struct elsewhere known[] = {
    /* perf */
    {"archive",
     "perfray makes no archives of objects; perfray info --build-ids lists them, --symfs DIR reads copies of them"},
    {"bench", "perfray runs no benchmarks; perf bench does"},
    {"buildid-cache", "perfray reads objects in place; perfray report --debuginfod fetches missing ones"},
    {"c2c", "perfray report --mem-mode counts memory accesses by cost"},
    {"config", "perfray has no configuration file, only options"},
    {"daemon", "perfray record --switch-output writes one file after the other, --control starts and stops recording"},
    {"data", "perfray convert converts recordings, perfray export writes formats of other tools"},
    {"ftrace", "perfray trace traces functions of programs; perf ftrace those of the kernel"},
    {"inject", "perfray reads jitdumps without perf inject; perfray convert rewrites a recording"},
    {"kallsyms", "grep NAME /proc/kallsyms finds a kernel symbol; perfray symbols lists objects without symbols"},
    {"kmem", "perfray record -e 'kmem:*', then perfray script shows these events"},
    {"kvm", "perfray record -e 'kvm:*', then perfray script shows these events"},
    {"kwork", "perfray record -e 'irq:*,workqueue:*', then perfray script shows these events"},
    {"lock", "perfray record -e 'lock:*' -g, then perfray report shows where threads wait"},
    {"mem", "perfray record -d -W records memory accesses, perfray report --mem-mode counts them"},
    {"probe", "perfray adds no probes; perf probe does, perfray record -e records them"},
    {"sched", "perfray offcpu shows why threads wait; perfray record --off-cpu records the data for it"},
    {"stat", "perfray does not count without sampling; perfray report prints recordings of perf stat record"},
    {"test", "perfray verify checks recordings"},
    {"timechart", "perfray draws no timeline of the machine; perfray script prints the events"},
    {"top", "perfray is not interactive; perfray record -a -- sleep 5, then perfray report"},
    {"version", "perfray --version prints it"},
    /* uftrace */
    {"live", "perfray trace PROGRAM records and shows the table"},
    {"tui", "perfray flame draws an interactive SVG"},
    {"recv", "perfray receives no traces; copy the file"},
    /* llvm-xray */
    {"account", "perfray latency shows the latency of calls"},
    {"stack",
     "perfray report -g caller shows the stacks of a trace, perfray export --format=folded prints them as lines"},
    {"graph-diff", "perfray graph --diff BASE FILE compares two traces"},
    {"fdr-dump", "perfray dump shows every record, perfray verify checks them"},
    {"extract", "perfray script --format=llvm-map prints the map; -m FILE reads it from the object itself"},
};

const char *found_elsewhere(const char *verb) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(verb, known[i].verb) == 0)
            return known[i].text;
    return NULL;
}

const char *option_of_other_name(const char *verb) {
    static const struct elsewhere names[] = {{"evlist", "--events"}, {"buildid-list", "--build-ids"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(verb, names[i].verb) == 0)
            return names[i].text;
    return NULL;
}
