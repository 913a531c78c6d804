/* SPDX-License-Identifier: Apache-2.0 */
/* Cache file with the kernel's own symbols; see kernel_image.h. */
#include "symbol/kernel/kernel_image.h"
#include "base/io/exact_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "base/io/descriptor.h"
#include "symbol/table/cache_folder.h"
#include "symbol/elf/elf_object.h"
#include "symbol/kernel/kernel_list.h"

#define MAGIC "pfrkerns"
#define SUFFIX ".kernel"
#define ORDER_MARK 0x01020304u
#define SUMMED_FROM 24u
#define BLOCK_SYMBOLS 64u
#define BLOCK_MOST ((uint32_t)1 << 20)
#define BESIDE_MOST ((uint64_t)2 << 20) /* maximum distance between a symbol and the next one */
#define SMALL_ROOM 4096u

struct kernel_image_header {
    char magic[8];
    uint32_t revision, order;
    uint64_t sum, whole;
    struct kernel_key key;
    uint32_t blocks, zero;
};
_Static_assert(sizeof(struct kernel_image_header) == 56 && sizeof(struct kernel_block) == 24,
               "as kernel_image.h has it");

static void file_name(const struct kernel_key *key, char name[CACHE_NAME_ROOM]) {
    snprintf(name, CACHE_NAME_ROOM, "%016llx%016llx" SUFFIX, (unsigned long long)key->high,
             (unsigned long long)key->low);
}

/* --- Key. */

/* Hashes the beginning of a file of the kernel; false: it cannot be read or is empty. */
static bool hash_small(XXH3_state_t *hash, int fd) {
    uint8_t bytes[SMALL_ROOM];
    ssize_t got = -1;
    while (fd >= 0 && (got = pread(fd, bytes, sizeof bytes, 0)) < 0 && errno == EINTR)
        ;
    return got > 0 && XXH3_128bits_update(hash, bytes, (size_t)got) == XXH_OK;
}

static bool hash_file(XXH3_state_t *hash, const char *path) {
    const int fd = descriptor_open(AT_FDCWD, path, O_RDONLY, 0);
    const bool done = hash_small(hash, fd);
    if (fd >= 0)
        close(fd);
    return done;
}

bool kernel_key_read(int list, struct kernel_key *key) {
    XXH3_state_t *hash = XXH3_createState();
    const bool known = hash && XXH3_128bits_reset(hash) == XXH_OK && hash_file(hash, "/sys/kernel/notes") &&
                       hash_file(hash, "/proc/sys/kernel/random/boot_id") && hash_small(hash, list);
    if (known) {
        const XXH128_hash_t sum = XXH3_128bits_digest(hash);
        *key = (struct kernel_key){sum.low64, sum.high64};
    }
    XXH3_freeState(hash);
    return known;
}

/* --- Reading. */

void kernel_image_init(struct kernel_image *image, struct memory *memory) {
    *image = (struct kernel_image){.memory = memory, .fd = -1};
    u64_map_init(&image->names, memory);
    arena_init(&image->arena, memory);
}

void kernel_image_close(struct kernel_image *image) {
    struct memory *memory = image->memory;
    for (uint32_t i = 0; image->texts && i < image->count; i++)
        mem_free(memory, image->texts[i], image->texts[i] ? image->blocks[i].size : 0, 1);
    mem_free(memory, image->texts, image->texts ? image->count : 0, sizeof *image->texts);
    mem_free(memory, image->blocks, image->blocks ? image->count : 0, sizeof *image->blocks);
    u64_map_free(&image->names);
    arena_free(&image->arena);
    if (image->fd >= 0)
        close(image->fd);
    kernel_image_init(image, memory);
}

static bool is_of(const struct kernel_image_header *h, const struct kernel_key *key, uint64_t size) {
    return memcmp(h->magic, MAGIC, sizeof h->magic) == 0 && h->revision == KERNEL_IMAGE_REVISION &&
           h->order == ORDER_MARK && h->key.low == key->low && h->key.high == key->high && h->whole == size &&
           h->blocks > 0 && h->blocks <= (size - sizeof *h) / sizeof(struct kernel_block);
}

static XXH64_hash_t sum_of(const struct kernel_image_header *h, const struct kernel_block *blocks) {
    const XXH64_hash_t head = XXH3_64bits((const uint8_t *)h + SUMMED_FROM, sizeof *h - SUMMED_FROM);
    return XXH3_64bits_withSeed(blocks, h->blocks * sizeof *blocks, head);
}

/* Checks that blocks are contiguous and sorted by address. */
static bool are_sound(const struct kernel_block *blocks, uint32_t count, uint64_t size) {
    uint64_t offset = sizeof(struct kernel_image_header) + (uint64_t)count * sizeof *blocks;
    for (uint32_t i = 0; i < count; offset += blocks[i++].size)
        if (blocks[i].offset != offset || blocks[i].size == 0 || blocks[i].size > BLOCK_MOST ||
            (i > 0 && blocks[i].address <= blocks[i - 1].address))
            return false;
    return offset == size;
}

static bool read_table(struct kernel_image *image, uint64_t size, const struct kernel_key *key) {
    struct kernel_image_header h;
    if (size < sizeof h || !read_exactly(image->fd, &h, sizeof h, 0) || !is_of(&h, key, size))
        return false;
    image->count = h.blocks;
    image->blocks = mem_alloc(image->memory, h.blocks, sizeof *image->blocks);
    image->texts = image->blocks ? mem_zeroed(image->memory, h.blocks, sizeof *image->texts) : NULL;
    return image->texts && read_exactly(image->fd, image->blocks, h.blocks * sizeof *image->blocks, sizeof h) &&
           sum_of(&h, image->blocks) == h.sum && are_sound(image->blocks, h.blocks, size);
}

bool kernel_image_open(struct kernel_image *image, const char *folder, const struct kernel_key *key) {
    char name[CACHE_NAME_ROOM];
    uint64_t size;
    const int fd = cache_folder_open(folder);
    if (fd < 0)
        return false;
    file_name(key, name);
    image->fd = cache_file_open(fd, name, KERNEL_IMAGE_MOST, &size);
    close(fd);
    if (image->fd >= 0 && read_table(image, size, key))
        return true;
    kernel_image_close(image);
    return false;
}

/* NULL: damaged, or out of memory. */
static const char *block_text(struct kernel_image *image, uint32_t number) {
    const struct kernel_block *b = &image->blocks[number];
    if (image->texts[number])
        return image->texts[number];
    char *text = mem_alloc(image->memory, b->size, 1);
    if (!text)
        return NULL;
    if (read_exactly(image->fd, text, b->size, b->offset) && XXH3_64bits(text, b->size) == b->sum)
        return image->texts[number] = text;
    mem_free(image->memory, text, b->size, 1);
    image->damaged = true;
    return NULL;
}

struct kept_symbol {
    uint64_t address;
    const char *name;
    size_t length;
};

/* Takes the next symbol of a block at *at; false: the block ends. */
static bool next_kept(const struct kernel_block *b, const char **at, const char *end, struct kept_symbol *symbol) {
    uint32_t behind;
    if ((size_t)(end - *at) <= sizeof behind)
        return false;
    memcpy(&behind, *at, sizeof behind);
    symbol->address = b->address + behind;
    symbol->name = *at + sizeof behind;
    symbol->length = strnlen(symbol->name, (size_t)(end - symbol->name));
    *at = symbol->name + symbol->length + 1;
    return *at <= end;
}

/* Finds the last block that begins at or before the address; false: there is no such block. */
static bool block_before(const struct kernel_image *image, uint64_t address, uint32_t *number) {
    uint32_t low = 0, high = image->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (image->blocks[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    *number = low - 1;
    return low > 0;
}

/* Finds the last symbol that begins at or before the address, and the start of the next one. */
static bool find_kept(struct kernel_image *image, uint64_t address, struct kept_symbol *here, uint64_t *behind) {
    uint32_t number;
    const char *at = block_before(image, address, &number) ? block_text(image, number) : NULL;
    if (!at)
        return false;
    const struct kernel_block *b = &image->blocks[number];
    const char *const end = at + b->size;
    struct kept_symbol next;
    *here = (struct kept_symbol){0};
    while (next_kept(b, &at, end, &next)) {
        *behind = next.address;
        if (next.address > address)
            return here->name;
        *here = next;
    }
    *behind = number + 1 < image->count ? b[1].address : 0;
    return here->name && *behind;
}

/* Returns the same pointer for a symbol each time. */
static const char *keep_name(struct kernel_image *image, const struct kept_symbol *symbol) {
    uint64_t *kept = u64_map_at(&image->names, symbol->address, 0, NULL);
    if (kept && !*kept)
        *kept = (uint64_t)(uintptr_t)arena_text(&image->arena, symbol->name, symbol->length);
    return kept ? (const char *)(uintptr_t)*kept : NULL;
}

bool kernel_image_find(struct kernel_image *image, uint64_t address, struct symbol *symbol) {
    struct kept_symbol here;
    uint64_t behind;
    if (image->fd < 0 || image->damaged || !find_kept(image, address, &here, &behind) ||
        behind - here.address > BESIDE_MOST)
        return false;
    const char *name = keep_name(image, &here);
    if (!name)
        return false;
    *symbol = (struct symbol){.name = name,
                              .name_length = here.length,
                              .module = "",
                              .start = here.address,
                              .size = behind - here.address,
                              .from = here.address,
                              .end = behind};
    return true;
}

/* --- Writing. */

struct image_maker {
    struct memory *memory;
    struct kernel_block *blocks;
    size_t count, room;
    char *bytes;         /* bytes of all blocks; there is enough room, because each symbol takes less than its line */
    size_t length, last; /* last: offset of the last symbol in `bytes` */
    uint64_t address;    /* address of the last symbol */
    unsigned in_block;
};

static bool begin_block(struct image_maker *m, uint64_t address) {
    struct kernel_block *more = mem_grow(m->memory, m->blocks, m->count, &m->room, 64, sizeof *m->blocks);
    if (!more)
        return false;
    m->blocks = more;
    m->blocks[m->count++] = (struct kernel_block){.address = address, .offset = (uint32_t)m->length};
    m->in_block = 0;
    return true;
}

static bool put_symbol(struct image_maker *m, const struct kernel_line *line) {
    const bool again =
        m->count && line->address == m->address; /* of several symbols with the same address, the last one is used */
    if (m->count && line->address < m->address)
        return false;
    if (again)
        m->length = m->last;
    const bool full =
        m->count == 0 || m->in_block == BLOCK_SYMBOLS || line->address - m->blocks[m->count - 1].address > UINT32_MAX;
    if (!again && full && !begin_block(m, line->address))
        return false;
    struct kernel_block *b = &m->blocks[m->count - 1];
    const uint32_t behind = (uint32_t)(line->address - b->address);
    m->last = m->length;
    m->address = line->address;
    m->in_block += !again;
    memcpy(m->bytes + m->length, &behind, sizeof behind);
    memcpy(m->bytes + m->length + sizeof behind, line->name, line->name_length);
    m->length += sizeof behind + line->name_length;
    m->bytes[m->length++] = '\0';
    b->size = (uint32_t)(m->length - b->offset);
    return true;
}

/* False: the text is not in the kernel's format, or memory ran out. */
static bool put_symbols(struct image_maker *m, const char *text, size_t length) {
    const char *at = text, *const end = text + length;
    while (at < end) {
        struct kernel_line line;
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline || !kernel_line_read(at, newline, &line))
            return false;
        at = newline + 1;
        if (!line.module && kernel_line_is_named(line.type, line.name, line.name_length) && !put_symbol(m, &line))
            return false;
    }
    return m->count > 0 && m->address > 0;
}

static void put_file(struct image_maker *m, int folder, const struct kernel_key *key) {
    const size_t table = m->count * sizeof *m->blocks, whole = sizeof(struct kernel_image_header) + table + m->length;
    struct kernel_image_header h = {.magic = MAGIC,
                                    .revision = KERNEL_IMAGE_REVISION,
                                    .order = ORDER_MARK,
                                    .whole = whole,
                                    .key = *key,
                                    .blocks = (uint32_t)m->count};
    char name[CACHE_NAME_ROOM];
    uint8_t *bytes = whole <= KERNEL_IMAGE_MOST ? mem_alloc(m->memory, whole, 1) : NULL;
    if (!bytes)
        return;
    for (size_t i = 0; i < m->count; i++) {
        struct kernel_block *b = &m->blocks[i];
        b->sum = XXH3_64bits(m->bytes + b->offset, b->size);
        b->offset += (uint32_t)(sizeof h + table);
    }
    h.sum = sum_of(&h, m->blocks);
    memcpy(bytes, &h, sizeof h);
    memcpy(bytes + sizeof h, m->blocks, table);
    memcpy(bytes + sizeof h + table, m->bytes, m->length);
    file_name(key, name);
    cache_file_put(folder, name, bytes, whole);
    mem_free(m->memory, bytes, whole, 1);
    cache_folder_bound(folder, SUFFIX, KERNEL_IMAGES_MOST, m->memory);
}

void kernel_image_keep(const char *path, const struct kernel_key *key, const char *text, size_t length,
                       struct memory *memory) {
    struct image_maker m = {.memory = memory};
    const int folder = length && length <= KERNEL_IMAGE_MOST ? cache_folder_make(path) : -1;
    const int lock = folder >= 0 ? cache_folder_lock(folder) : -1;
    m.bytes = lock >= 0 ? mem_alloc(memory, length, 1) : NULL;
    if (m.bytes && put_symbols(&m, text, length))
        put_file(&m, folder, key);
    mem_free(memory, m.bytes, m.bytes ? length : 0, 1);
    mem_free(memory, m.blocks, m.room, sizeof *m.blocks);
    if (lock >= 0)
        close(lock);
    if (folder >= 0)
        close(folder);
}
