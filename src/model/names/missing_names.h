/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_MISSING_NAMES_H
#define PFR_MODEL_MISSING_NAMES_H
/*
 * Why addresses in an object have no names or no lines, and which file would give them some. To be asked when all is
 * named (address_names.h, address_lines.h): what was found then is not looked for again.
 *
 *     struct object_look look;
 *     PFR_TRY(object_look(&names, object, &look, &err));
 *     object_fault_text(look.names)            "its symbols were stripped"
 *     if (object_spare_find(&names, object, &look, SPARE_DEBUG, &spare)) ... spare.path, spare.place ...
 */
#include "model/names/address_names.h"
#include "symbol/elf/elf_facts.h"

/* Why. What would help is a property of each: object_fault_need. */
enum object_fault {
    FAULT_NO_MAP,        /* the address is in no object */
    FAULT_MISSING,       /* no file at its path */
    FAULT_DELETED,       /* the same, and it was gone when it was recorded */
    FAULT_REPLACED,      /* another build is there */
    FAULT_UNVERIFIED,    /* a file without a build-id is there, and one was recorded */
    FAULT_NOT_PERMITTED, /* may not be read */
    FAULT_NO_OBJECT,     /* what is there is no object, or no file */
    FAULT_UNREADABLE,    /* damaged, beyond a limit, or reading failed */
    FAULT_STRIPPED,      /* its symbols were taken out, and are not found */
    FAULT_NO_DEBUG_INFO, /* it has symbols and no debugging information */
    FAULT_NO_SYMBOL,     /* symbols are there, none for some of the addresses */
    FAULT_NO_LINE,       /* debugging information is there, none for some of the addresses */
    FAULT_OTHER_KERNEL,  /* the running kernel is not the one recorded */
    FAULT_HIDDEN_KERNEL, /* the running kernel does not tell its symbols */
    FAULT_OTHER_VMLINUX, /* the file that was named for the kernel does not name it */
    FAULT_KERNEL_LINES,  /* kallsyms has names alone, its own file would have more */
    FAULT_NAMES_ALONE,   /* what names this code has no lines */
    FAULT_NO_JIT_MAP,    /* code that was made while it ran, of which nobody wrote a map */
    FAULT_NO_VDSO,       /* no copy of the kernel's page of code was kept */
    FAULT_NO_FILE,       /* memory that no file is behind */
    FAULT_NO_SPLIT,      /* what was split off its debugging information is not there */
    FAULT_NO_SHARED,     /* nor is what it shares with other objects' */
    OBJECT_FAULTS
};

/* What would mend it. */
enum object_need {
    NEED_NOTHING, /* nothing that could be put anywhere */
    NEED_OBJECT,  /* the recorded build of the object */
    NEED_DEBUG,   /* what was taken out of it */
    NEED_VMLINUX, /* the kernel's own file */
    NEED_SETTING, /* of the running kernel */
    NEED_READER,  /* somebody who may read it */
    NEED_MAP,     /* a map of the code, written by the program */
    NEED_SPLIT,   /* the files that were split off, or their package */
    NEED_SHARED   /* the file that is shared */
};

struct object_look {
    enum object_fault names, lines;    /* of those addresses that have none */
    bool lacks_inlined;                /* what would tell inlined functions is not all there, */
    enum object_fault inlined;         /* for this reason */
    const struct debug_missed *missed; /* files that are not there then; as long as the names */
    struct build_id id;                /* of the recorded build; size 0: not known */
    struct build_id other;             /* REPLACED, OTHER_VMLINUX: of the file that is there */
};

const char *object_fault_name(enum object_fault fault); /* "stripped"; static */
const char *object_fault_text(enum object_fault fault); /* a sentence without its end; static */
enum object_need object_fault_need(enum object_fault fault);

/* `object` may be NO_OBJECT. Errors: no memory. */
pfr_status object_look(struct address_names *names, uint32_t object, struct object_look *look, pfr_error *err);

/* A file of the recorded build that is not where it is looked for. */
struct object_spare {
    char path[DEBUG_PATH_ROOM]; /* where it is; "": found nowhere */
    char
        place[DEBUG_PATH_ROOM]; /* where it would be found: in the copies that perf keeps; "": there is no such place */
};

/* Looks beside the object, below /usr/lib/debug and in what debuginfod fetched before: for the object itself
   (NEED_OBJECT), for what was taken out of it (NEED_DEBUG; `lines`: with debugging information, else symbols do), or
   for the kernel (NEED_VMLINUX). Errors: no memory. */
pfr_status object_spare_find(struct address_names *names, uint32_t object, const struct object_look *look,
                             enum object_need need, bool lines, struct object_spare *spare, pfr_error *err);

#endif
