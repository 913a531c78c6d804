/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SCRIPT_H
#define PERFRAY_SCRIPT_H
/*
 * One event at a time in the order of time, as text: what `perf script` prints, byte for byte. Of an XRay trace: one
 * call, exit or logged event a line; what asks for things that no trace holds (show, comms, chains, the kernel,
 * dump, per_event) is PFR_ERR_USAGE, and so is what asks perf.data for instr_maps.
 *
 * The recording is read twice (state first, then its records); a stream must have been opened with
 * pfr_open_options.spool.
 *
 * Example:
 *
 *     const char *fields[] = {"comm,tid,time,event,ip,sym", NULL};
 *     pfr_script_options options = {.size = sizeof options, .fields = fields};
 *     pfr_status st = pfr_script_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records beside samples that are printed: pfr_script_options.show. */
#define PFR_SCRIPT_TASKS (1u << 0)      /* COMM, FORK, EXIT */
#define PFR_SCRIPT_MAPS (1u << 1)       /* MMAP, MMAP2 */
#define PFR_SCRIPT_SWITCHES (1u << 2)   /* SWITCH, SWITCH_CPU_WIDE */
#define PFR_SCRIPT_NAMESPACES (1u << 3) /* NAMESPACES */
#define PFR_SCRIPT_CGROUPS (1u << 4)    /* CGROUP */
#define PFR_SCRIPT_BPF (1u << 5)        /* KSYMBOL, BPF_EVENT */
#define PFR_SCRIPT_LOSSES (1u << 6)     /* LOST */
#define PFR_SCRIPT_ROUNDS (1u << 7)     /* FINISHED_ROUND */
#define PFR_SCRIPT_POKES (1u << 8)      /* TEXT_POKE */

typedef enum pfr_script_clock {
    PFR_SCRIPT_AS_RECORDED,
    PFR_SCRIPT_SINCE_FIRST,   /* since the first line */
    PFR_SCRIPT_SINCE_PREVIOUS /* since the line before */
} pfr_script_clock;

typedef enum pfr_script_format {
    PFR_SCRIPT_TEXT,      /* perf's */
    PFR_SCRIPT_JSON,      /* JSON lines, docs/json/script.schema.json; without `fields` everything that was recorded */
    PFR_SCRIPT_LLVM_YAML, /* of a trace: what `llvm-xray convert -f yaml` writes, with -y where there are instr_maps */
    PFR_SCRIPT_LLVM_MAP   /* of a trace: its functions that have names, as `llvm-xray extract` writes a program's */
} pfr_script_format;

typedef struct pfr_script_options {
    size_t size; /* sizeof(pfr_script_options) */
    pfr_script_format format;
    const char *const *fields; /* each as perf's -F takes it, in this order; ends with NULL; NULL: the defaults */
    uint32_t show;             /* PFR_SCRIPT_*, or-ed */
    uint32_t max_stack;        /* entries of a call chain; 0: 127 */
    const char *cpus;          /* samples of these alone: "0,2-3"; NULL: all */
    const char *pids, *tids;   /* "12,13" */
    const char *comms;         /* "sh,make" */
    const char *symbols;       /* with this name or address at the sampled address: "main,0x401136" */
    uint64_t address_range;    /* bytes from such an address on; 0: 1 */
    const char *objects;       /* in these objects, by path or its last part: "libc.so.6,/usr/bin/sh" */
    /* "12.5,13" in seconds, an end may be left out; "10%-20%"; "10%/2"; "5s-10s" since the first sample; wall clock:
       "2026-11-22 09:00:01,09:00:05", with Z or +01:00 behind it elsewhere than here */
    const char *time;
    const char *switch_on;  /* an event: samples from its next one on; NULL: from the first sample on */
    const char *switch_off; /* an event: samples up to its next one; NULL: to the end */
    bool show_switches;     /* those of these two events, too */
    pfr_script_clock clock; /* what times are printed as */
    bool hide_call_graph;   /* the sampled address instead of its chain */
    bool nanoseconds;       /* times with nine digits behind the point instead of six */
    bool inlined;        /* call chains have a line for each function that was inlined at an address, above its own */
    bool kernel_paths;   /* the path of `vmlinux` and of modules, where they are printed as [kernel.kallsyms], [ext4] */
    const char *stop_at; /* a call chain ends with the first of these names: "main,start_thread" */
    bool dump;           /* above its line each record as pfr_dump prints it in perf's form, with its bytes */
    bool unsorted;       /* records as they stand in the recording, not in the order of time */
    const char *name;    /* of the recording, for such a dump; NULL: "" */
    /* what each event prints goes into PER_EVENT.EVENT.dump, of mode 0600, and a line for each to `out`; NULL: no */
    const char *per_event;
    /* threads that print, the caller's among them, 64 at most; the text is the same. 0: one. With more the allocator of
       the reader is asked by all of them at once. Where lines depend on those before, or state is learnt from a stream
       as it comes, there is one. `hole` and `note` are called by the caller's thread alone */
    uint32_t jobs;
    const pfr_symbol_options *naming; /* where names come from; NULL: the defaults */
    /* told of each stretch that could not be read; may be NULL */
    void (*hole)(void *context, const pfr_error *hole);
    /* told what was asked for and will not be done, and in the end how many records came too late to stand in their
       place and how many samples of guests were left out (neither makes it a HOLE), one sentence each; may be NULL */
    void (*note)(void *context, const char *sentence);
    void *context;
    bool stitched; /* stacks of branches (LBR) go on with what samples before had further out; one thread then */
    bool ticks;    /* of a trace: times in ticks of its clock, as recorded */
} pfr_script_options;

/*
 * Reads the recording and prints. What is held (state, names) is in the reader's memory, counts against its limit, and
 * is given back before the call returns. PFR_OK; PFR_HOLE: printed, but parts of the input could not be used;
 * PFR_ERR_USAGE: a field that does not exist, or was not recorded though it was asked for by name, or a stream without
 * spool; PFR_ERR_FORMAT: an XRay profile, which has no events; else as pfr_next.
 */
pfr_status pfr_script_print(pfr_reader *reader, const pfr_script_options *options, pfr_output *out, pfr_error *err);

/* The names of fields (pfr_script_options.fields), one for each `index` from 0; NULL beyond the last. Static. */
const char *pfr_script_field_name(uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
