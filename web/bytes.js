// SPDX-License-Identifier: Apache-2.0
// Converts the page's text to columns of numbers.
//
// The data of a page is one stream of bytes: "PFRVIEW1", a u32 with the length of a JSON directory, the directory, and
// the columns. The stream is gzip-compressed and stored as base64 in <script type="application/x-perfray"> elements, in
// order. A column of COUNT numbers is stored as byte planes: the low byte of each number, then the second byte of each,
// and so on. Numbers are unsigned and little-endian, of 1 to 7 bytes and below 2^53.

export const STREAM_MAGIC = 'PFRVIEW1';

// Returns the bytes of a base64 text. Uint8Array.fromBase64, where the browser has it, is ten times
// as fast as the loop.
export function bytesOfBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text), bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

export function joinBytes(parts) {
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        bytes.set(part, at);
        at += part.length;
    }
    return bytes;
}

export async function gunzipBytes(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Reads the low planes, at most four. There is one loop per width, because engines compile such a loop to a few
// instructions per number.
function lowPlanes(bytes, from, count, width) {
    if (width === 1) return bytes.slice(from, from + count);
    const numbers = new Uint32Array(count), second = from + count, third = second + count, fourth = third + count;
    if (width === 2) for (let i = 0; i < count; i++) numbers[i] = bytes[from + i] | bytes[second + i] << 8;
    else if (width === 3) for (let i = 0; i < count; i++) numbers[i] = bytes[from + i] | bytes[second + i] << 8 | bytes[third + i] << 16;
    else for (let i = 0; i < count; i++) numbers[i] = bytes[from + i] | bytes[second + i] << 8 | bytes[third + i] << 16 | bytes[fourth + i] << 24;
    return numbers;
}

// Reads a column from its planes at `from`. Columns wider than 4 bytes become doubles, which are exact up to 2^53.
export function columnOfPlanes(bytes, from, count, width) {
    if (width <= 4) return lowPlanes(bytes, from, count, width);
    const numbers = new Float64Array(lowPlanes(bytes, from, count, 4));
    for (let plane = 4, at = from + 4 * count, scale = 2 ** 32; plane < width; plane++, at += count, scale *= 256)
        for (let i = 0; i < count; i++) numbers[i] += bytes[at + i] * scale;
    return numbers;
}

// Returns the directory, and the bytes that contain its columns.
export function splitStream(bytes) {
    const magic = new TextDecoder().decode(bytes.subarray(0, 8));
    if (magic !== STREAM_MAGIC) throw new Error('this is not data of perfray view');
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
    const directory = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length)));
    return {directory, body: bytes.subarray(12 + length)};
}

// Reads all columns of a directory, by name; throws an error if a column would end after the stream.
export function readColumns(directory, body) {
    const columns = {};
    let at = 0;
    for (const {name, count, width} of directory.columns) {
        if (at + count * width > body.length) throw new Error(`column ${name} is cut off`);
        columns[name] = columnOfPlanes(body, at, count, width);
        at += count * width;
    }
    return columns;
}
