// SPDX-License-Identifier: Apache-2.0
// Tiles of a wide image. Each is painted once and copied while the view moves, so the cost of panning does not depend
// on the amount of data.

const TILE = 512;
const TILES_MOST = 32;

export class Tiles {
    // paint(context, from, width, height) paints the pixels `from` to `from + width` of the whole image.
    constructor(paint) {
        this.paint = paint;
        this.known = new Map();
        this.key = null;
    }
    // Copies the tiles in view; returns false if a tile is still missing. While the view moves, paints one missing tile
    // per frame; at a new zoom (another `key`), paints all of them.
    draw(context, {from, top, width, height, key}) {
        if (key !== this.key) this.known.clear();
        const isNew = this.known.size === 0, first = Math.floor(from / TILE), last = Math.floor((from + width) / TILE);
        this.key = key;
        let painted = 0, missing = 0;
        for (let i = first; i <= last; i++) {
            if (!this.known.has(i) && (isNew || painted === 0)) {
                this.known.set(i, this.make(i, height));
                painted++;
            }
            const tile = this.known.get(i);
            if (tile) context.drawImage(tile, Math.round(i * TILE - from), top, TILE, height);
            else missing++;
        }
        this.forget((first + last) / 2);
        return missing === 0;
    }
    make(i, height) {
        const scale = window.devicePixelRatio || 1, canvas = document.createElement('canvas');
        canvas.width = Math.round(TILE * scale);
        canvas.height = Math.max(1, Math.round(height * scale));
        const context = canvas.getContext('2d');
        context.setTransform(scale, 0, 0, scale, 0, 0);
        this.paint(context, i * TILE, TILE, height);
        return canvas;
    }
    // Drops the tiles farthest from the view.
    forget(middle) {
        if (this.known.size <= TILES_MOST) return;
        const far = [...this.known.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
        for (const i of far.slice(0, this.known.size - TILES_MOST)) this.known.delete(i);
    }
}
