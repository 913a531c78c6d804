/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_KERNEL_IMAGE_H
#define PFR_SYMBOL_KERNEL_IMAGE_H
/*
 * Cache file with the running kernel's own symbols. It avoids reading the kernel's list: the kernel takes 40 ms to
 * print the list, and few of the 100 000 lines are ever needed. All numbers have this machine's byte order, which the
 * file records:
 *
 *  0    "pfrkerns"
 *  8    u32 revision of the format, u32 0x01020304
 *  16   u64 XXH3 of all bytes from 24 to the end of the table of blocks
 *  24   u64 size of the file
 *  32   u64, u64 key of the list
 *  48   u32 blocks, u32 0
 *  56   the table, sorted by address: u64 address of the first symbol, u64 XXH3 of the block, u32 offset, u32 size
 *       blocks of up to 64 symbols: u32 distance from the block's address, the name, NUL
 *
 * The key is a hash of the kernel's build-id (/sys/kernel/notes), the boot id, and the beginning of the list, which is
 * read each time. So the key differs if the kernel is at another address, or if addresses are hidden from this process.
 * A block is read and checked when an address in it is first looked up.
 *
 * Only the kernel's own code and data are cached, because these symbols cannot change while the kernel runs. A symbol
 * is found in the cache if it and the next symbol belong to the kernel itself and are close to each other, so that
 * nothing loaded later can be between the two. For all other symbols (modules, BPF programs, the ends of the kernel),
 * the kernel's list is read.
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "symbol/table/symbol_source.h"

#define KERNEL_IMAGE_REVISION 1u
#define KERNEL_IMAGE_MOST ((uint64_t)64 << 20)  /* bytes of a file */
#define KERNEL_IMAGES_MOST ((uint64_t)24 << 20) /* bytes of all files; files of older kernels are deleted first */

struct kernel_key {
    uint64_t low, high;
};

struct kernel_block {
    uint64_t address, sum;
    uint32_t offset, size;
};

struct kernel_image {
    struct memory *memory;
    int fd; /* -1: no file */
    struct kernel_block *blocks;
    char **texts; /* texts of the blocks that were read; NULL: not read */
    uint32_t count;
    bool damaged;         /* a block differs from its checksum */
    struct u64_map names; /* address -> name in `arena`, the same pointer each time */
    struct arena arena;
};

/* False: the key cannot be computed, so nothing is cached. `list` is the kernel's list, whose file position is
 * unchanged. */
bool kernel_key_read(int list, struct kernel_key *key);

void kernel_image_init(struct kernel_image *image, struct memory *memory);
void kernel_image_close(struct kernel_image *image);

/* False: the folder has no valid file with this key. */
bool kernel_image_open(struct kernel_image *image, const char *folder, const struct kernel_key *key);

/* False: the symbol is not in the cache file, so the kernel's list must be read. */
bool kernel_image_find(struct kernel_image *image, uint64_t address, struct symbol *symbol);

/* Caches the symbols of a list; errors are ignored. */
void kernel_image_keep(const char *folder, const struct kernel_key *key, const char *text, size_t length,
                       struct memory *memory);

#endif
