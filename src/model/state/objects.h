/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OBJECTS_H
#define PFR_MODEL_OBJECTS_H
/*
 * What is mapped: one entry per path and build-id. ANONYMOUS is code in no file, one entry per process; MEMORY the
 * stack, the heap and what else has a name and no file, and holds no code; OTHER what is named in any other way.
 */
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
    OBJECT_KSYMBOL, /* code that came while the kernel ran: its path is the symbol */
    OBJECT_JITDUMP, /* the file in which a compiler told of its code (jit.h) */
    OBJECT_OTHER
};

#define BUILD_ID_ROOM 20

struct object {
    uint32_t path, short_name; /* in `names` */
    uint32_t pid;              /* of anonymous memory */
    uint32_t sibling;          /* another object of the same path, or another kernel; NO_OBJECT */
    uint8_t kind;
    bool listed;           /* a list of build-ids names its path */
    uint8_t build_id_size; /* 0: not known */
    uint8_t build_id[BUILD_ID_ROOM];
};

#define NO_OBJECT UINT32_MAX

/* What a list of build-ids said of a path. */
struct learned_id {
    uint8_t size; /* 0: nothing */
    uint8_t bytes[BUILD_ID_ROOM];
};

/* A map that was met, and its object: processes map the same few files again and again. */
struct object_memo {
    const uint8_t *path;                /* in `names`; NULL: none */
    uint32_t length, name, pid, object; /* name: of the path */
    uint8_t use, build_id_size;
    bool of_one_process;
    uint8_t build_id[BUILD_ID_ROOM]; /* as the map said it */
};
#define OBJECT_MEMOS 64u

struct objects {
    struct memory *memory;
    struct intern_table keys; /* what makes two maps one object -> its number */
    struct intern_table *names;
    struct object *at;
    size_t room;
    struct u64_map newest_of;  /* path -> the newest object that is called so, where it is no kernel */
    struct u64_map learned_of; /* path -> its place in `learned` */
    struct learned_id *learned;
    size_t nr_learned, learned_room;
    uint32_t newest_kernel, oldest_kernel; /* NO_OBJECT: there is none */
    struct learned_id kernel_id;
    bool vmlinux; /* the recorder found the kernel's own file: reports call it [kernel.vmlinux] */
    struct object_memo memos[OBJECT_MEMOS];
};

void objects_init(struct objects *all, struct memory *memory, struct intern_table *names);
void objects_free(struct objects *all);

/* What a map is for. Of memory in no file only what holds code may have names, those that a compiler wrote down. */
enum map_use { MAP_OF_CODE, MAP_OF_DATA, MAP_OF_KERNEL };

/* The object of a map record. build_id may be NULL. */
pfr_status objects_of_map(struct objects *all, const pfr_text *path, uint32_t pid, enum map_use use,
                          const uint8_t *build_id, unsigned build_id_size, uint32_t *object, pfr_error *err);

/* The object that stands for one KSYMBOL: its path and short name are the symbol. */
pfr_status objects_of_ksymbol(struct objects *all, const pfr_text *name, uint32_t *object, pfr_error *err);

/* Fills in build-ids by path, of objects that are there and of those that will come, and what the kernel is called. The
   first word counts. */
pfr_status objects_learn(struct objects *all, const struct pfr_rec_build_id_entry *entry, pfr_error *err);

#endif
