// SPDX-License-Identifier: Apache-2.0
// Colours of boxes. A colour always represents a kind, an object, a name, or the size of a change
// or ratio, and is the same in every run.

export const PALETTES = {
    light: {kind: ['#efc456', '#8ecfa8', '#6fa3dc', '#de6f6a', '#a374c0', '#cfd4da'],
            object: ['#d7c388', '#8fb7ee', '#e07144', '#7ba488', '#a076ca', '#f0a6b5', '#d1f39a', '#cdd2d9']},
    dark: {kind: ['#cfae42', '#8cc3a6', '#3f9bd3', '#bb6e62', '#8e5bab', '#5b636f'],
           object: ['#d5a04a', '#688ed8', '#b4583c', '#6ebfb7', '#8456a6', '#b8849a', '#bfd593', '#5b636f']},
};
export const KIND_NAMES = ['program', 'library', 'kernel', 'JIT or interpreted', 'traced call', 'no name'];

// From less (−3) to more (+3).
export const DIFF_PALETTES = {light: ['#2f78c4', '#709ed3', '#abc3e1', '#e6e8ec', '#e8c2ae', '#e69b6f', '#e0701a'],
                              dark: ['#4f9be8', '#4b7cb0', '#445d7b', '#3a4049', '#715749', '#aa6d43', '#e5812f']};

const INKS = ['#14171c', '#ffffff'];

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

// Relative luminance and contrast as WCAG 2 defines them.
export function luminance(colour) {
    const [r, g, b] = channels(colour).map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a, b) {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
}

export const inkOn = (colour) => contrast(colour, INKS[0]) >= contrast(colour, INKS[1]) ? INKS[0] : INKS[1];

function shade(colour, by) {
    return '#' + channels(colour).map((c) => Math.max(0, Math.min(255, Math.round(c * (1 + by)))).toString(16).padStart(2, '0')).join('');
}

function hashOf(text) {
    let hash = 0;
    for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
    return (hash >>> 0) / 0xffffffff;
}

// Colours of functions and of their labels, for one theme and one meaning. Each of the heaviest objects has a colour of
// its own.
export class Colours {
    // `stepOf(func)`, from -3 to 3, is used for the meaning 'ratio'.
    constructor(functions, theme, meaning, heavyObjects, stepOf) {
        this.changes = DIFF_PALETTES[theme];
        this.stepOf = stepOf;
        this.functions = functions;
        this.palette = PALETTES[theme];
        this.meaning = meaning;
        this.rank = new Map(heavyObjects.map((object, i) => [object, i]));
        this.known = new Map();
    }
    base(func) {
        if (this.meaning === 'kind') return this.palette.kind[this.functions.kindOf(func)];
        if (this.meaning === 'ratio') return this.changes[this.stepOf(func) + 3];
        if (this.meaning === 'name' && this.rank.size === 1) return this.palette.object[func % (this.palette.object.length - 1)]; // functions are numbered by weight, so the heaviest ones get different colours
        const rank = this.rank.get(this.functions.objectOf(func));
        return this.palette.object[rank === undefined ? 7 : Math.min(rank, 7)];
    }
    of(func) {
        let known = this.known.get(func);
        if (known) return known;
        const base = this.base(func);
        const colour = this.meaning === 'name' ? shade(base, 0.12 * hashOf(this.functions.nameOf(func)) - 0.06) : base;
        known = {fill: colour, ink: inkOn(colour)};
        this.known.set(func, known);
        return known;
    }
}
