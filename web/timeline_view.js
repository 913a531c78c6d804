// SPDX-License-Identifier: Apache-2.0
// Threads over time, in the order of threadRows: samples as density, calls as spans, logged events
// and losses on top. Dragging selects time.
import {el, fill, fitCanvas, onceAFrame} from './dom.js';
import {axisStep, countOf, formatTick, formatTime, groupDigits, shortName, shortPath, visibleText} from './format.js';
import {firstEndingAfter} from './pyramid.js';
import {Tiles} from './tiles.js';
import {isOfCommand, threadRows} from './thread_rows.js';
import {LANE, ThreadPainter} from './timeline_paint.js';

const AXIS = 22;
const GROUP = 18; // height of a heading
const LABELS_WIDE = 150;
const LABELS_NARROW = 70;
const INDENT = 8; // pixels
const INDENT_NARROW = 3;
const MARK_NEAR = 4; // maximum distance of the pointer from a mark, in pixels
const SPAN_LEAST = 100; // ns
const THREADS_MOST = 200; // only the first threads in the order of threadRows have rows

export class TimelineView {
    constructor(app) {
        this.app = app;
        this.canvas = el('canvas', {'aria-hidden': 'true'});
        this.labels = el('div', {class: 'threads', role: 'listbox', 'aria-multiselectable': 'true', 'aria-label': 'Threads'});
        this.surface = el('div', {class: 'times', tabindex: '0', role: 'img', 'aria-label': 'Timeline'}, this.canvas);
        this.all = el('button', {class: 'whole', title: 'show the whole recording in the timeline (0)', onclick: () => { this.show(...this.whole()); this.surface.focus(); }});
        this.element = el('section', {class: 'timeline', 'aria-label': 'Timeline'}, this.labels, this.all, this.surface);
        this.redraw = onceAFrame(() => this.draw());
        this.painter = new ThreadPainter(app);
        this.tiles = new Tiles((context, from, width, height) => this.paintTile(context, from, width, height));
        this.scroll = 0;
        this.mark = -1;
        Object.assign(this, threadRows(app.data, THREADS_MOST));
        this.at = 0; // the row that Tab reaches
        this.listen();
    }
    whole() {
        const {begin, end} = this.app.extent;
        return [begin, Math.max(end, begin + 1)];
    }
    // The visible range.
    get range() { return this.app.state.visible || this.whole(); }
    listen() {
        this.surface.addEventListener('pointerdown', (event) => this.press(event));
        this.surface.addEventListener('pointermove', (event) => this.moved(event));
        this.surface.addEventListener('pointerup', (event) => this.release(event));
        this.surface.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
        this.surface.addEventListener('keydown', (event) => this.key(event));
        this.labels.addEventListener('keydown', (event) => this.labelKey(event));
        this.labels.addEventListener('focusin', (event) => this.moveTo([...this.labels.children].indexOf(event.target)));
        this.labels.addEventListener('scroll', () => {
            this.scroll = this.labels.scrollTop;
            this.redraw();
        });
    }

    // --- Places.

    rowHeight(row) { return row.thread === null ? GROUP : this.painter.heightOf(row.thread); }
    xOf(time) { return (time - this.range[0]) / (this.range[1] - this.range[0]) * this.width; }
    timeOf(x) { return this.range[0] + x / this.width * (this.range[1] - this.range[0]); }

    // --- Drawing.

    render() {
        const wide = this.app.narrow() ? LABELS_NARROW : LABELS_WIDE, hasFocus = this.labels.contains(document.activeElement);
        this.labels.style.width = this.all.style.width = `${wide}px`;
        this.all.textContent = this.app.narrow() ? 'all (0)' : 'whole recording (0)';
        const rest = this.hidden ? el('div', {class: 'thread dim', text: `+ ${groupDigits(this.hidden)} threads`, title: 'these threads have no row; all views count them'}) : null;
        fill(this.labels, ...this.rows.map((row) => this.indented(row, row.thread === null ? this.groupLabel(row) : this.label(row.thread))), rest);
        this.moveTo(this.at, hasFocus);
        this.redraw();
    }
    // The rows of a group are indented under its heading.
    indented(row, label) {
        label.style.paddingLeft = `${this.app.narrow() ? INDENT_NARROW * row.depth + 4 : INDENT * (row.depth + 1)}px`;
        return label;
    }
    groupLabel({kind, name, short, pid, members}) {
        const room = this.app.narrow() ? 9 : 20, isProcess = kind === 'process';
        return el('div', {class: `thread group ${kind}`, role: 'option', tabindex: '-1', 'aria-selected': 'false', title: `${kind === 'command' ? '' : `${kind} `}${name}${isProcess ? `, pid ${pid}` : ''}: choose ${kind === 'command' ? 'the' : 'its'} ${countOf(members.size, 'thread')}`,
                          onclick: () => this.app.change({threads: members})},
                  el('span', {text: isProcess ? shortName(name, room) : this.app.narrow() && short ? short : shortPath(name, room)}), this.app.narrow() ? null : el('small', {text: isProcess ? String(pid) : kind === 'command' ? groupDigits(members.size) : kind}));
    }
    label(thread) {
        const {threads, strings} = this.app.data, {state} = this.app;
        const unknown = (threads.tid[thread] | 0) < 0, named = unknown ? 'unknown' : visibleText(strings.get(threads.name[thread])), name = named || 'thread', idle = this.app.isIdle(thread);
        const chosen = !state.threads || state.threads.has(thread);
        const label = el('div', {class: `thread${chosen ? '' : ' off'}${idle ? ' idle' : ''}`, role: 'option', tabindex: '-1', 'aria-selected': String(chosen),
                                 title: `${unknown ? 'unknown thread' : `${name}, pid ${threads.pid[thread]}, tid ${threads.tid[thread]}`}${isOfCommand(this.app.data, thread) ? ', of the recorded command' : ''}${idle ? ', idle: no samples' : ''}`,
                                 onclick: (event) => this.app.chooseThread(thread, event)},
                         el('span', {text: named ? shortName(name, this.app.narrow() ? 9 : idle ? 15 : 20) : this.app.narrow() ? '' : 'thread'}),
                         el('small', {text: this.app.narrow() && named ? '' : `${idle ? 'idle ' : ''}${unknown ? '' : threads.tid[thread]}`}));
        label.style.height = `${this.painter.heightOf(thread)}px`;
        return label;
    }
    // The list of threads is one stop of Tab; arrows move inside it.
    moveTo(at, focuses = false) {
        const row = this.labels.children[at];
        if (!row || at >= this.rows.length) return;
        if (this.labels.children[this.at]) this.labels.children[this.at].tabIndex = -1;
        this.at = at;
        row.tabIndex = 0;
        if (focuses) row.focus();
    }
    labelKey(event) {
        const by = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity}[event.key], row = this.rows[this.at];
        if (by) this.moveTo(Math.max(0, Math.min(this.rows.length - 1, this.at + by)), true);
        else if (event.key !== 'Enter' && event.key !== ' ') return;
        else if (row.thread === null) this.app.change({threads: row.members});
        else this.app.chooseThread(row.thread, event);
        event.preventDefault();
        event.stopPropagation();
    }
    draw() {
        const height = this.surface.clientHeight;
        this.width = this.surface.clientWidth;
        if (!this.width || !height) return;
        this.context = fitCanvas(this.canvas, this.width, height);
        this.colours = this.app.themeColours();
        this.all.hidden = !this.app.state.visible;
        this.drawAxis(height);
        const perPixel = (this.range[1] - this.range[0]) / this.width, {state} = this.app;
        this.app.colours(); // updates coloursKey
        const key = JSON.stringify([perPixel, this.scroll, height, this.app.coloursKey, state.event, state.threads && [...state.threads]]);
        const place = {from: (this.range[0] - this.app.extent.begin) / perPixel, top: AXIS, width: this.width, height: height - AXIS, key};
        this.perPixel = perPixel;
        if (!this.tiles.draw(this.context, place)) this.redraw();
        this.drawChosen(height);
        this.drawWaker();
        this.drawMark(height);
        this.drawLabels();
    }
    paintTile(context, from, width, height) {
        const begin = this.app.extent.begin + from * this.perPixel, view = {context, begin, end: begin + width * this.perPixel, width, colours: this.colours};
        let y = -this.scroll;
        for (const row of this.rows) {
            const tall = this.rowHeight(row);
            if (row.thread !== null && y + tall > 0 && y < height) this.painter.paint(row.thread, y, tall, view);
            y += tall;
        }
    }
    ticks() {
        const span = this.range[1] - this.range[0], {begin} = this.app.extent, ticks = [];
        // Labels of a short range have many digits, so they need more room.
        const apart = Math.max(84, this.context.measureText(formatTick(this.range[0] - begin, axisStep(span, this.width, 84), this.range[1] - begin)).width + 16), step = axisStep(span, this.width, apart);
        for (let time = Math.ceil((this.range[0] - begin) / step) * step; time <= this.range[1] - begin; time += step) ticks.push(time);
        return ticks.map((time) => ({x: this.xOf(time + begin), text: formatTick(time, step, ticks[ticks.length - 1])}));
    }
    drawAxis(height) {
        this.context.fillStyle = this.colours.line;
        this.context.font = '11px system-ui, sans-serif';
        for (const {x} of this.ticks()) this.context.fillRect(x, AXIS - 4, 1, height);
    }
    drawLabels() {
        this.context.fillStyle = this.colours.dim;
        this.context.font = '11px system-ui, sans-serif';
        for (const {x, text} of this.ticks()) if (x + 3 + this.context.measureText(text).width <= this.width) this.context.fillText(text, x + 3, 13);
    }
    drawChosen(height) {
        const time = this.dragging || this.app.state.time;
        if (!time) return;
        const [from, to] = time.map((t) => this.xOf(t));
        this.context.fillStyle = this.colours.acc;
        this.context.globalAlpha = 0.16;
        this.context.fillRect(from, AXIS, Math.max(to - from, 1), height);
        this.context.globalAlpha = 1;
        this.context.fillRect(from, AXIS, 1, height);
        this.context.fillRect(to, AXIS, 1, height);
    }
    // The mark chosen by key or from the list.
    drawMark(height) {
        if (this.mark < 0) return;
        const x = this.xOf(this.app.marks.time[this.mark]);
        this.context.fillStyle = this.colours.acc;
        this.context.fillRect(x - 1, AXIS - 6, 3, height);
        this.context.fillRect(x - 4, AXIS - 6, 9, 6);
    }

    // The top of a thread's row in the canvas, and its height; null if it has no row.
    placeOf(thread) {
        let y = AXIS - this.scroll;
        for (const row of this.rows) {
            const tall = this.rowHeight(row);
            if (row.thread === thread) return {y, tall};
            y += tall;
        }
        return null;
    }
    // Scrolls to the rows of threads; if not all fit, the first one stays visible.
    reveal(threads) {
        const room = this.surface.clientHeight - AXIS;
        for (const place of threads.map((thread) => this.placeOf(thread)).filter(Boolean).reverse()) {
            const above = AXIS - place.y, below = place.y + place.tall - AXIS - room;
            this.labels.scrollTop = this.scroll += above > 0 ? -above : below > 0 ? below : 0;
            this.scroll = this.labels.scrollTop;
        }
    }
    // An arrow from the thread that ended the shown wait to the thread that waited.
    drawWaker() {
        const {wait, context} = this, {time} = this.app.state;
        if (!wait || !time || Math.abs(time[1] - wait.end) > 1 || wait.waker < 0) return;
        const from = this.placeOf(wait.waker), to = this.placeOf(wait.thread), x = this.xOf(wait.end);
        if (!from || !to || from === to) return;
        const begin = from.y + from.tall / 2, end = to.y + to.tall / 2, down = end > begin ? 1 : -1;
        context.strokeStyle = context.fillStyle = this.colours.hit;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(x, begin);
        context.lineTo(x, end - 6 * down);
        context.stroke();
        context.beginPath();
        context.arc(x, begin, 3, 0, 2 * Math.PI);
        context.moveTo(x, end);
        context.lineTo(x - 5, end - 8 * down);
        context.lineTo(x + 5, end - 8 * down);
        context.fill();
    }

    // --- The pointer.

    xAt(event) {
        return Math.max(0, Math.min(event.clientX - this.surface.getBoundingClientRect().left, this.width));
    }
    press(event) {
        this.surface.setPointerCapture(event.pointerId);
        this.pressed = {x: this.xAt(event), pans: event.shiftKey || event.button === 1, range: this.range};
    }
    moved(event) {
        const x = this.xAt(event);
        if (!this.pressed) return this.tell(event, x);
        if (this.pressed.pans) return this.panFrom(this.pressed.range, this.pressed.x - x);
        if (Math.abs(x - this.pressed.x) < 3) return undefined;
        this.dragging = [this.timeOf(Math.min(x, this.pressed.x)), this.timeOf(Math.max(x, this.pressed.x))].map(Math.round);
        this.app.preview({time: this.dragging});
        return this.redraw();
    }
    release() {
        const {dragging, pressed} = this;
        this.pressed = this.dragging = null;
        if (dragging && dragging[1] > dragging[0]) this.app.change({time: dragging});
        else if (pressed && !pressed.pans && this.app.state.time) this.app.change({time: null});
    }
    tell(event, x) {
        const offset = this.timeOf(x) - this.app.extent.begin, thread = this.threadAt(event);
        if (thread === undefined) return this.app.hover(`${formatTime(offset)} after the start`);
        const state = this.painter.stateAt(thread, this.timeOf(x)) || (this.app.isIdle(thread) ? 'no samples' : ''), mark = this.markAt(thread, x);
        this.surface.title = mark;
        return this.app.hover(`${mark && mark + '; '}${formatTime(offset)} after the start, ${this.app.threadName(thread)}${state && ', ' + state}${this.callAt(thread, event)}`);
    }
    markAt(thread, x) {
        const {marks} = this.app, i = marks.near(thread, this.timeOf(x), MARK_NEAR / this.width * (this.range[1] - this.range[0]));
        return i < 0 ? '' : marks.describe(i);
    }
    threadAt(event) {
        let y = event.clientY - this.surface.getBoundingClientRect().top - AXIS + this.scroll;
        for (const row of this.rows) {
            const tall = this.rowHeight(row);
            if (y >= 0 && y < tall) {
                this.insideY = y;
                return row.thread === null ? undefined : row.thread;
            }
            y -= tall;
        }
        return undefined;
    }
    callAt(thread, event) {
        const depth = Math.floor((this.insideY - this.painter.callsTop(thread)) / LANE), time = this.timeOf(this.xAt(event));
        if (depth < 0 || depth >= this.painter.lanesOf(thread)) return '';
        const row = this.painter.pyramidOf(thread).levels[depth][0].row, i = firstEndingAfter(row, time);
        if (i >= row.start.length || row.start[i] > time) return '';
        return `: ${this.app.functions.nameOf(row.func[i])}, ${formatTime(row.end[i] - row.start[i])}`;
    }
    wheel(event) {
        if (!event.ctrlKey && !event.shiftKey) {
            this.labels.scrollTop += event.deltaY;
            return;
        }
        event.preventDefault();
        if (event.shiftKey) this.panFrom(this.range, event.deltaY + event.deltaX);
        else this.zoomBy(event.deltaY < 0 ? 0.8 : 1.25, this.timeOf(this.xAt(event)));
    }

    // --- Changes of the visible range.

    // The range as far as it is in the recording; null: the whole recording.
    fitted(from, to) {
        const [begin, end] = this.whole(), span = Math.min(Math.max(to - from, SPAN_LEAST), end - begin);
        const first = Math.max(begin, Math.min(from, end - span));
        return span < end - begin ? [first, first + span] : null;
    }
    show(from, to) {
        this.app.look(this.fitted(from, to));
        this.redraw();
    }
    panFrom(range, pixels) {
        const by = pixels / this.width * (range[1] - range[0]);
        this.show(range[0] + by, range[1] + by);
    }
    zoomBy(factor, around = (this.range[0] + this.range[1]) / 2) {
        this.show(around - (around - this.range[0]) * factor, around + (this.range[1] - around) * factor);
    }
    key(event) {
        const keys = {w: () => this.zoomBy(0.5), s: () => this.zoomBy(2), a: () => this.panFrom(this.range, -this.width / 4),
                      d: () => this.panFrom(this.range, this.width / 4), '+': () => this.zoomBy(0.5), '-': () => this.zoomBy(2),
                      0: () => this.show(...this.whole()), Enter: () => this.chooseRange(), m: () => this.nextMark(1), M: () => this.nextMark(-1)};
        if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
        event.preventDefault();
        event.stopPropagation();
        keys[event.key]();
    }
    // Highlights a mark and shows its text; moves the visible range to it if necessary.
    showMark(i) {
        const time = this.app.marks.time[i], span = this.range[1] - this.range[0];
        this.mark = i;
        if (time < this.range[0] || time > this.range[1]) this.show(time - span / 2, time + span / 2);
        this.redraw();
        this.app.say(`${this.app.describeMark(i)}`);
    }
    nextMark(by) {
        const chosen = this.app.marks.within(this.app.state), at = chosen.indexOf(this.mark);
        if (!chosen.length) return this.app.say('no events or losses in this selection');
        return this.showMark(chosen[at < 0 ? (by > 0 ? 0 : chosen.length - 1) : (at + by + chosen.length) % chosen.length]);
    }
    // Selects the visible range of time, for use with the keyboard.
    chooseRange() {
        const [begin, end] = this.whole(), whole = this.range[0] <= begin && this.range[1] >= end;
        this.app.change({time: whole ? null : this.range.map(Math.round)});
    }
}
