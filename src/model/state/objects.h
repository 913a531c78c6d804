/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OBJECTS_H
#define PFR_MODEL_OBJECTS_H
/* Mapped objects: one object per path and build id. OBJECT_ANONYMOUS is code without a file, one object per process.
   OBJECT_MEMORY is the stack, the heap and other named memory without a file, and has no code. OBJECT_OTHER has any
   other name. */
#include "base/tables/hashmap.h"
#include "base/tables/intern.h"

#include <perfray/reader.h>

enum object_kind {
    OBJECT_FILE,
    OBJECT_KERNEL,
    OBJECT_MODULE,
    OBJECT_VDSO,
    OBJECT_ANONYMOUS,
    OBJECT_MEMORY,
    OBJECT_KSYMBOL, /* code added while the kernel ran: its path is the symbol */
    OBJECT_JITDUMP, /* the file in which a compiler describes its code (jit.h) */
    OBJECT_OTHER
};

#define BUILD_ID_ROOM 20

struct object {
    uint32_t path, short_name; /* ids in `names` */
    uint32_t pid;              /* process of anonymous memory */
    uint32_t sibling;          /* next object of the same path, or next kernel; NO_OBJECT: no more */
    uint8_t kind;
    bool listed;           /* its path is in a list of build ids */
    uint8_t build_id_size; /* 0: unknown */
    uint8_t build_id[BUILD_ID_ROOM];
};

#define NO_OBJECT UINT32_MAX

/* Build id of a path, from a list of build ids. */
struct learned_id {
    uint8_t size; /* 0: not in the list */
    uint8_t bytes[BUILD_ID_ROOM];
};

/* Cache entry: a recent map and its object. Processes map the same few files again and again. */
struct object_memo {
    const uint8_t *path;                /* in `names`; NULL: unused entry */
    uint32_t length, name, pid, object; /* name: id of the path */
    uint8_t use, build_id_size;
    bool of_one_process;
    uint8_t build_id[BUILD_ID_ROOM]; /* as recorded in the map */
};
#define OBJECT_MEMOS 64u

struct objects {
    struct memory *memory;
    struct intern_table keys; /* identity of an object -> its number */
    struct intern_table *names;
    struct object *at;
    size_t room;
    struct u64_map newest_of;  /* path -> the newest object with this path, kernels excluded */
    struct u64_map learned_of; /* path -> index in `learned` */
    struct learned_id *learned;
    size_t nr_learned, learned_room;
    uint32_t newest_kernel, oldest_kernel; /* NO_OBJECT: no kernel */
    struct learned_id kernel_id;
    bool vmlinux; /* the recorder found the kernel's own file: reports call it [kernel.vmlinux] */
    struct object_memo memos[OBJECT_MEMOS];
};

void objects_init(struct objects *all, struct memory *memory, struct intern_table *names);
void objects_free(struct objects *all);

/* Use of a map. In memory without a file, only code can have symbols: those that a compiler recorded. */
enum map_use { MAP_OF_CODE, MAP_OF_DATA, MAP_OF_KERNEL };

/* The object of a map record, created if it is new. build_id may be NULL. */
pfr_status objects_of_map(struct objects *all, const pfr_text *path, uint32_t pid, enum map_use use,
                          const uint8_t *build_id, unsigned build_id_size, uint32_t *object, pfr_error *err);

/* A new object for one KSYMBOL: its path and short name are the symbol. */
pfr_status objects_of_ksymbol(struct objects *all, const pfr_text *name, uint32_t *object, pfr_error *err);

/* Sets the build id of a path, for existing and future objects, and the name of the kernel. The first entry of a path
   applies. */
pfr_status objects_learn(struct objects *all, const struct pfr_rec_build_id_entry *entry, pfr_error *err);

#endif
