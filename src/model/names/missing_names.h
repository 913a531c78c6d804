/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_MISSING_NAMES_H
#define PFR_MODEL_MISSING_NAMES_H
/*
 * Why addresses of an object have no names or no lines, and which file would provide them. Call these functions after
 * all addresses are named (address_names.h, address_lines.h): they use the results of naming.
 *
 *    struct object_look look;
 *    PFR_TRY(object_look(&names, object, &look, &err));
 *    object_fault_text(look.names)            "its symbols were stripped"
 *    if (object_spare_find(&names, object, &look, NEED_DEBUG, true, &spare)) ... spare.path, spare.place ...
 */
#include "model/names/address_names.h"
#include "symbol/elf/elf_facts.h"

/* Reasons. object_fault_need returns the remedy of each. */
enum object_fault {
    FAULT_NO_MAP,        /* the address is in no object */
    FAULT_MISSING,       /* no file at its path */
    FAULT_DELETED,       /* no file at its path: it was deleted before the recording */
    FAULT_REPLACED,      /* the file at its path is of another build */
    FAULT_UNVERIFIED,    /* the file at its path has no build-id, but one was recorded */
    FAULT_NOT_PERMITTED, /* no permission to read it */
    FAULT_NO_OBJECT,     /* the file is not an object, or not a regular file */
    FAULT_UNREADABLE,    /* the file is damaged or beyond a limit, or reading failed */
    FAULT_STRIPPED,      /* its symbols were stripped, and no separate debug file was found */
    FAULT_NO_DEBUG_INFO, /* it has symbols but no debugging information */
    FAULT_NO_SYMBOL,     /* it has symbols, but not for some of the addresses */
    FAULT_NO_LINE,       /* it has debugging information, but not for some of the addresses */
    FAULT_OTHER_KERNEL,  /* the running kernel is not the one recorded */
    FAULT_HIDDEN_KERNEL, /* the running kernel hides its symbols */
    FAULT_OTHER_VMLINUX, /* the file given for the kernel is not usable */
    FAULT_KERNEL_LINES,  /* kallsyms has only names; the kernel's own file would have lines */
    FAULT_NAMES_ALONE,   /* the source of the names of this code has no lines */
    FAULT_NO_JIT_MAP,    /* code generated at run time, without a perf map */
    FAULT_NO_VDSO,       /* no copy of the vdso was kept */
    FAULT_NO_FILE,       /* anonymous memory */
    FAULT_NO_SPLIT,      /* split debugging information (.dwo) is missing */
    FAULT_NO_SHARED,     /* shared debugging information (dwz) is missing */
    OBJECT_FAULTS
};

/* Remedies. */
enum object_need {
    NEED_NOTHING, /* no file would help */
    NEED_OBJECT,  /* the recorded build of the object */
    NEED_DEBUG,   /* its separate debug file */
    NEED_VMLINUX, /* the kernel's own file */
    NEED_SETTING, /* a setting of the running kernel */
    NEED_READER,  /* a user with permission to read it */
    NEED_MAP,     /* a perf map, written by the program */
    NEED_SPLIT,   /* the split files, or their package */
    NEED_SHARED   /* the shared file */
};

struct object_look {
    enum object_fault names, lines;    /* reasons for the addresses without names, and without lines */
    bool lacks_inlined;                /* information about inlined functions is incomplete */
    enum object_fault inlined;         /* if lacks_inlined: the reason */
    const struct debug_missed *missed; /* if lacks_inlined: the missing files; valid as long as the names */
    struct build_id id;                /* build id of the recorded object; size 0: unknown */
    struct build_id other;             /* FAULT_REPLACED, FAULT_OTHER_VMLINUX: build id of the file that was found */
};

const char *object_fault_name(enum object_fault fault); /* "stripped"; static */
const char *object_fault_text(enum object_fault fault); /* a clause without final punctuation; static */
enum object_need object_fault_need(enum object_fault fault);

/* Finds out why addresses of the object have no names or lines. `object` may be NO_OBJECT. Fails only for lack of
   memory. */
pfr_status object_look(struct address_names *names, uint32_t object, struct object_look *look, pfr_error *err);

/* A file of the recorded build at a place that naming does not search. */
struct object_spare {
    char path[DEBUG_PATH_ROOM];  /* its path; "": not found */
    char place[DEBUG_PATH_ROOM]; /* the path in perf's cache (~/.debug) at which naming would find it; "": no such
                                    path */
};

/*
 * Looks beside the object, below /usr/lib/debug and in the cache of debuginfod for the object itself (NEED_OBJECT), for
 * its separate debug file (NEED_DEBUG; `lines`: with debugging information, otherwise symbols suffice), or for the
 * kernel (NEED_VMLINUX). Fails only for lack of memory.
 */
pfr_status object_spare_find(struct address_names *names, uint32_t object, const struct object_look *look,
                             enum object_need need, bool lines, struct object_spare *spare, pfr_error *err);

#endif
