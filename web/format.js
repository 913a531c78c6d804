// SPDX-License-Identifier: Apache-2.0
// Formats numbers, times and names for readers.

// Invisible and reordering characters are shown as \uXXXX, so that they cannot make a name look
// like another one.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export const visibleText = (text) => text.replace(UNSAFE, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

// 1234567 -> "1 234 567", with thin spaces.
export const groupDigits = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, '\u2009');

// "1 call", "2 calls".
export const countOf = (count, noun) => `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;

function threeDigits(value) {
    const text = value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const TIME_UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

// Formats nanoseconds with three significant digits.
export function formatTime(ns) {
    if (!(Math.abs(ns) > 0)) return '0';
    const [scale, unit] = TIME_UNITS.find(([size]) => Math.abs(ns) >= size * 0.9995) || TIME_UNITS[3];
    return `${ns < 0 ? '−' : ''}${threeDigits(Math.abs(ns) / scale)}\u2009${unit}`;
}

// Formats a time of an axis in the unit of the largest label, with as many digits as labels `step` apart need.
export function formatTick(ns, step, most) {
    const [scale, unit] = TIME_UNITS.find(([size]) => most >= size) || TIME_UNITS[3];
    const digits = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
    return ns > 0 ? `${(ns / scale).toFixed(digits)}\u2009${unit}` : '0';
}

// "2.050 s to 2.051 s": both ends with as many digits as three digits of the range need.
export function formatRange(from, to) {
    const step = Math.max(1, Math.pow(10, Math.floor(Math.log10(Math.max(to - from, 1))) - 2));
    return `${formatTick(from, step, to)} to ${formatTick(to, step, to)}`;
}

// "5 ms" -> 5000000 ns; NaN: not a duration.
export function parseDuration(text) {
    const parts = /^\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|μs|ms|s)\s*$/.exec(text), unit = parts && parts[2].replace(/^(u|μ)s$/, 'µs');
    return parts ? Number(parts[1]) * TIME_UNITS.find(([, name]) => name === unit)[0] : NaN;
}

const COUNT_UNITS = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];

function formatCount(count) {
    const unit = COUNT_UNITS.find(([size]) => count >= 10 * size);
    return unit ? `${threeDigits(count / unit[0])}\u2009${unit[1]}` : groupDigits(count);
}

// Formats a weight in the unit of its event: 'ns', 'switches', or null for a count without a unit.
export const formatWeight = (weight, unit) => unit === 'ns' ? formatTime(weight) : formatCount(weight) + (unit ? `\u2009${unit}` : '');

export function formatShare(part, whole) {
    if (!(whole > 0) || part === 0) return '0 %';
    const percent = 100 * part / whole;
    return percent > 0 && percent < 0.01 ? '< 0.01 %' : `${percent.toFixed(percent < 1 ? 2 : 1)} %`;
}

// "std::vector<int, std::allocator<int>>::push_back(int const&)" -> "std::vector<…>::push_back()".
// The parentheses and angle brackets of operators are kept.
export function foldArguments(name) {
    const operator = name.indexOf('operator');
    const end = operator < 0 ? name.length : operator;
    let folded = '', depth = 0;
    for (let i = 0; i < end; i++) {
        const c = name[i];
        if (c === '<' || c === '(') {
            if (depth++ === 0) folded += c + '…';
        } else if ((c === '>' || c === ')') && depth > 0) {
            if (--depth === 0) folded += c;
        } else if (depth === 0) folded += c;
    }
    return depth ? name : folded.replace(/\(…\)/g, '()') + name.slice(end);
}

// Shortens a name to at most `room` characters: first removes arguments, then qualifiers, then the
// end.
export function shortName(name, room) {
    if (name.length <= room) return name;
    const folded = foldArguments(name);
    if (folded.length <= room) return folded;
    const last = folded.split('::').pop();
    if (last.length + 3 <= room) return '…::' + last;
    return room < 2 ? '' : last.slice(0, room - 1) + '…';
}

// Shortens a path from the left, because its end is more informative.
export const shortPath = (path, room) => path.length <= room ? path : '…' + path.slice(path.length - room + 1);

// Distance between the labels of an axis: 1, 2 or 5 times a power of ten, so that labels are at least `apart` pixels
// apart.
export function axisStep(range, pixels, apart) {
    const least = range * apart / Math.max(pixels, 1);
    const power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));
    return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= least) || 10 * power;
}
