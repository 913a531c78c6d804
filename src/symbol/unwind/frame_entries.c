/* SPDX-License-Identifier: Apache-2.0 */
/* Reads entries of call frame information; see frame_entries.h. */
#include "symbol/unwind/frame_entries.h"

#include "symbol/dwarf/dwarf_forms.h"

#define ENCODING_FORM 0x0fu
#define ENCODING_BASE 0x70u
#define ENCODING_INDIRECT 0x80u
#define BASE_NONE 0x00u
#define BASE_HERE 0x10u
#define ENCODING_OMIT 0xffu
#define LETTERS_MOST 16u /* bytes of an augmentation string, including its NUL */
#define COMMON_MOST 256u /* bytes of a CIE before its program; compilers write some 20 */
#define FORM_ULEB 0x01u
#define FORM_SLEB 0x09u

/* Bytes of a number, indexed by form; negative: the number is signed; 0: the size is not fixed. */
static const int8_t form_sizes[16] = {[0x02] = 2, [0x03] = 4, [0x04] = 8, [0x0a] = -2, [0x0b] = -4, [0x0c] = -8};

static bool take_form(struct cursor *in, const struct frame_section *section, unsigned form, uint64_t *number) {
    int64_t signed_number;
    if (form == FORM_ULEB)
        return take_uleb(in, number);
    if (form == FORM_SLEB) {
        const bool is_there = take_sleb(in, &signed_number);
        *number = is_there ? (uint64_t)signed_number : 0;
        return is_there;
    }
    const int wide = form == 0 ? section->address_size : form_sizes[form];
    const unsigned size = (unsigned)(wide < 0 ? -wide : wide);
    if (size == 0 || !take_sized(in, size, number))
        return false;
    if (wide < 0)
        *number = (uint64_t)((int64_t)(*number << (64 - 8 * size)) >> (64 - 8 * size));
    return true;
}

bool take_encoded(struct cursor *in, const struct frame_section *section, uint8_t encoding, uint64_t *address) {
    const uint64_t here = section->address + cursor_offset(in);
    const unsigned base = encoding & ENCODING_BASE;
    if ((encoding & ENCODING_INDIRECT) || (base != BASE_NONE && base != BASE_HERE))
        return false;
    if (!take_form(in, section, encoding & ENCODING_FORM, address))
        return false;
    if (base == BASE_HERE)
        *address += here;
    if (section->address_size == 4)
        *address &= UINT32_MAX;
    return true;
}

/* --- CIEs. */

/* Takes the data of a letter after 'z' (LSB Core, 10.6.1.1.1). */
static bool take_letter(struct cursor *in, const struct frame_section *section, char letter,
                        struct frame_common *common) {
    uint8_t encoding;
    uint64_t unused;
    switch (letter) {
    case 'L':
        return take_u8(in, &encoding);
    case 'R':
        return take_u8(in, &common->encoding);
    case 'P':
        return take_u8(in, &encoding) &&
               (encoding == ENCODING_OMIT || take_form(in, section, encoding & ENCODING_FORM, &unused));
    case 'S':
        common->is_signal = true;
        return true;
    case 'B': /* return addresses are signed with the B key */
    case 'G': /* stack memory is tagged */
        return true;
    default:
        return false;
    }
}

static bool take_augmentation(struct cursor *in, const struct frame_section *section, const char *letters,
                              struct frame_common *common) {
    struct cursor part;
    uint64_t length;
    if (*letters == '\0')
        return true;
    if (*letters != 'z' || !take_uleb(in, &length) || !take_cursor(in, length, &part))
        return false;
    common->has_augmentation = true;
    while (*++letters)
        if (!take_letter(&part, section, *letters, common))
            return false;
    return true;
}

static bool take_return_register(struct cursor *in, uint8_t version, struct frame_common *common) {
    uint8_t narrow;
    if (version != 1)
        return take_uleb(in, &common->return_register);
    const bool is_there = take_u8(in, &narrow);
    common->return_register = is_there ? narrow : 0;
    return is_there;
}

static bool take_sizes(struct cursor *in, uint8_t version, struct frame_common *common) {
    uint8_t segment_size = 0;
    if (version < 4)
        return true;
    return take_u8(in, &common->address_size) && take_u8(in, &segment_size) && segment_size == 0 &&
           (common->address_size == 4 || common->address_size == 8);
}

static bool take_letters(struct cursor *in, const char **letters) {
    const size_t left = cursor_left(in);
    const uint8_t *end = memchr(in->at, 0, left < LETTERS_MOST ? left : LETTERS_MOST);
    *letters = (const char *)in->at;
    if (end)
        in->at = end + 1;
    return end != NULL;
}

/* Takes all fields before the program. */
static bool take_fields(struct cursor *in, const struct frame_section *section, struct frame_common *common) {
    uint8_t version;
    const char *letters;
    if (!take_u8(in, &version) || (version != 1 && version != 3 && version != 4) || !take_letters(in, &letters))
        return false;
    return take_sizes(in, version, common) && take_uleb(in, &common->code_align) &&
           take_sleb(in, &common->data_align) && take_return_register(in, version, common) &&
           take_augmentation(in, section, letters, common);
}

/* Reads a CIE; `in` is after the field that distinguishes a CIE from an FDE. If FDEs refer to CIEs alternately, each
 * CIE is read many times. To bound the time, a CIE is refused if its fields have more than COMMON_MOST bytes (a number
 * may have any length). */
static bool take_common(struct cursor *in, const struct frame_section *section, struct frame_common *common) {
    const size_t left = cursor_left(in);
    struct cursor fields = *in;
    fields.end = in->at + (left < COMMON_MOST ? left : COMMON_MOST);
    if (!take_fields(&fields, section, common))
        return false;
    common->program = *in;
    common->program.at = fields.at;
    return true;
}

/* --- Walking the section. */

/* The field after the length: a CIE mark or an offset; in .eh_frame always four bytes. */
struct frame_head {
    struct cursor body;  /* the bytes after that field */
    uint64_t at, number; /* offset and value of that field */
    unsigned size;
};

static bool is_common(const struct frame_section *section, const struct frame_head *head) {
    if (!section->is_debug)
        return head->number == 0;
    return head->number == (head->size == 4 ? UINT32_MAX : UINT64_MAX);
}

static bool take_head(struct cursor *in, const struct frame_section *section, struct frame_head *head) {
    uint8_t offset_size;
    if (!take_unit_length(in, &head->body, &offset_size))
        return false;
    head->size = section->is_debug ? offset_size : 4;
    head->at = cursor_offset(&head->body);
    head->number = 0;
    if (cursor_left(&head->body) ==
        0) /* ends the entries of one object file; entries of other object files may follow */
        head->size = 0;
    return head->size == 0 || take_sized(&head->body, head->size, &head->number);
}

struct frame_walk frame_walk_begin(const struct frame_section *section) {
    return (struct frame_walk){.section = section,
                               .in = cursor_on(section->bytes.bytes, section->bytes.size, 0, section->swap)};
}

static bool find_common(struct frame_walk *walk, const struct frame_head *head) {
    const struct frame_section *section = walk->section;
    const uint64_t at = section->is_debug ? head->number : head->at - head->number;
    struct frame_head of;
    if (walk->has_common && walk->common.at == at)
        return true;
    walk->has_common = false;
    if (at >= section->bytes.size)
        return false;
    struct cursor in = cursor_on(section->bytes.bytes + at, section->bytes.size - at, at, section->swap);
    walk->common = (struct frame_common){.at = at, .address_size = section->address_size};
    walk->has_common = take_head(&in, section, &of) && of.size && is_common(section, &of) &&
                       take_common(&of.body, section, &walk->common);
    return walk->has_common;
}

static bool take_entry(struct frame_walk *walk, struct cursor *in, struct frame_entry *entry) {
    const struct frame_common *common = &walk->common;
    const struct frame_section *section = walk->section;
    const uint64_t last = common->address_size == 4 ? UINT32_MAX : UINT64_MAX;
    struct cursor skipped;
    uint64_t length, more;
    if (!take_encoded(in, section, common->encoding, &entry->from) ||
        !take_form(in, section, common->encoding & ENCODING_FORM & 0x07u, &length))
        return false;
    if (common->has_augmentation && (!take_uleb(in, &more) || !take_cursor(in, more, &skipped)))
        return false;
    if (length == 0 || length > last - entry->from)
        return false;
    entry->end = entry->from + length;
    entry->common = *common;
    entry->program = *in;
    return !section->is_debug || entry->from != 0; /* functions removed by the linker begin at 0 */
}

bool frame_walk_next(struct frame_walk *walk, struct frame_entry *entry) {
    struct frame_head head;
    entry->at = cursor_offset(&walk->in);
    while (take_head(&walk->in, walk->section, &head)) {
        if (head.size && !is_common(walk->section, &head) && find_common(walk, &head) &&
            take_entry(walk, &head.body, entry))
            return true;
        entry->at = cursor_offset(&walk->in);
    }
    return false;
}

bool frame_walk_at(struct frame_walk *walk, uint64_t at, struct frame_entry *entry) {
    const struct section_bytes bytes = walk->section->bytes;
    if (at > bytes.size)
        return false;
    walk->in = cursor_on(bytes.bytes + at, bytes.size - at, at, walk->section->swap);
    return frame_walk_next(walk, entry);
}
