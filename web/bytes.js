// SPDX-License-Identifier: Apache-2.0
// From the page's text to columns of numbers.
//
// The data of a page are one stream of bytes: "PFRVIEW1", a u32 with the length of a JSON directory, the directory, and
// the columns. The stream is gzip-compressed and written as base64 into <script type="application/x-perfray"> elements,
// in order. A column of COUNT numbers is stored as byte planes: the low byte of each number, then the second byte of
// each, and so on. Numbers are unsigned and little-endian, of 1 to 7 bytes and below 2^53.

export const STREAM_MAGIC = 'PFRVIEW1';

// Bytes of base64 text. Uint8Array.fromBase64 is ten times as fast where the browser has it.
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

function arrayOfWidth(width, count) {
    if (width === 1) return new Uint8Array(count);
    if (width === 2) return new Uint16Array(count);
    return width <= 4 ? new Uint32Array(count) : new Float64Array(count);
}

// A column from its planes at `from`. Widths above 4 bytes become doubles, which hold them exactly.
export function columnOfPlanes(bytes, from, count, width) {
    const numbers = arrayOfWidth(width, count);
    for (let plane = 0, at = from, scale = 1; plane < width; plane++, at += count, scale *= 256)
        for (let i = 0; i < count; i++) numbers[i] += bytes[at + i] * scale;
    return numbers;
}

// The directory and the bytes that its columns lie in.
export function splitStream(bytes) {
    const magic = new TextDecoder().decode(bytes.subarray(0, 8));
    if (magic !== STREAM_MAGIC) throw new Error('this is not data of perfray view');
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
    const directory = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length)));
    return {directory, body: bytes.subarray(12 + length)};
}

// Every column of a directory, by name; a column that would end after the stream is an error.
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
