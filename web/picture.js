// SPDX-License-Identifier: Apache-2.0
// Exports the visible flame graph as an SVG file with real text and titles.
import {shortName} from './format.js';
import {ROW} from './flame_view.js';

const WIDTH = 1200;
const CHAR = 7.2;
const HEAD = 50; // height of the headings

const escapeXml = (text) => text.replace(/[&<>"']/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;'})[c]);

function boxAsSvg({box, name, title, colour}) {
    const x = (box.x * WIDTH).toFixed(1), width = Math.max(box.width * WIDTH - 1, 0.5), y = box.row * ROW + HEAD;
    const room = Math.floor((width - 6) / CHAR), label = room >= 3 ? `<text x="${(box.x * WIDTH + 3).toFixed(1)}" y="${y + 14}" fill="${colour.ink}">${escapeXml(shortName(name, room))}</text>` : '';
    return `<g><title>${escapeXml(title)}</title><rect x="${x}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colour.fill}"/>${label}</g>`;
}

// `boxes`: [{box, name, title, colour}]; `headings`: the title and the selection.
export function pictureOf([title, selection], boxes, rows, background, ink) {
    const height = rows * ROW + HEAD + 10, room = Math.floor((WIDTH - 8) / CHAR);
    const second = selection.length > room ? `${selection.slice(0, room - 1)}…` : selection;
    return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="12">\n` +
        `<rect width="${WIDTH}" height="${height}" fill="${background}"/>\n<text x="4" y="20" fill="${ink}" font-size="14">${escapeXml(title)}</text>\n<text x="4" y="40" fill="${ink}"><title>${escapeXml(selection)}</title>${escapeXml(second)}</text>\n${boxes.map(boxAsSvg).join('\n')}\n</svg>\n`;
}
