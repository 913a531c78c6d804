/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_KERNEL_IMAGE_H
#define PFR_SYMBOL_KERNEL_IMAGE_H
/*
 * The running kernel's own symbols in a file of the user's cache: the kernel takes 40 ms to print its list, and of
 * 100 000 lines few are ever asked for. All numbers are in this machine's byte order, which the file says:
 *
 *     0    "pfrkerns"
 *     8    u32 revision of the format, u32 0x01020304
 *     16   u64 XXH3 of all bytes from 24 to the end of the table of blocks
 *     24   u64 size of the whole
 *     32   u64, u64 key: what the list is of
 *     48   u32 blocks, u32 0
 *     56   the table, by address: u64 address of the first symbol, u64 XXH3 of the block, u32 offset in the file, u32
 * size blocks of up to 64 symbols: u32 how far behind the block's address it begins, the name, NUL
 *
 * The key is a hash of the kernel's build-id (/sys/kernel/notes), of which start of it this is (boot_id) and of how its
 * list begins, which is read each time: so a kernel that was moved, and addresses that are hidden from this process,
 * have another key. A block is read and checked when an address in it is asked for first.
 *
 * Only what cannot change while the kernel runs is kept, its own code and data: a name is found where that symbol and
 * the next are the kernel's own and near each other, so that nothing that was loaded later can be between them. For all
 * else (modules, programs made for BPF, the ends of the kernel) the kernel's list is read as without a file.
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "symbol/table/symbol_source.h"

#define KERNEL_IMAGE_REVISION 1u
#define KERNEL_IMAGE_MOST ((uint64_t)64 << 20)  /* bytes of a file */
#define KERNEL_IMAGES_MOST ((uint64_t)24 << 20) /* bytes of all of them: those of kernels of old go */

struct kernel_key {
    uint64_t low, high;
};

struct kernel_block {
    uint64_t address, sum;
    uint32_t offset, size;
};

struct kernel_image {
    struct memory *memory;
    int fd; /* -1: there is none */
    struct kernel_block *blocks;
    char **texts; /* of blocks that were read */
    uint32_t count;
    bool damaged;         /* a block is not what was written */
    struct u64_map names; /* address -> its name, in `arena`, the same each time */
    struct arena arena;
};

/* False: it cannot be told, so nothing is kept. `list` is the kernel's list, whose place does not change. */
bool kernel_key_read(int list, struct kernel_key *key);

void kernel_image_init(struct kernel_image *image, struct memory *memory);
void kernel_image_close(struct kernel_image *image);

/* False: the folder has none of this key that may be believed. */
bool kernel_image_open(struct kernel_image *image, const char *folder, const struct kernel_key *key);

/* False: it does not say; the kernel's list must be asked. */
bool kernel_image_find(struct kernel_image *image, uint64_t address, struct symbol *symbol);

/* Keeps the text of a list; where that cannot be, nothing happens. */
void kernel_image_keep(const char *folder, const struct kernel_key *key, const char *text, size_t length,
                       struct memory *memory);

#endif
