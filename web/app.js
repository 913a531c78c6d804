// SPDX-License-Identifier: Apache-2.0
// The page: a state, the views that show it, and the keys that change it.
import {CodeView} from './code_view.js';
import {Colours, DIFF_PALETTES, KIND_NAMES, PALETTES} from './colours.js';
import {Derivations, Functions} from './derive.js';
import {DetailsView} from './details_view.js';
import {stepOfRatio} from './diff.js';
import {DiffView} from './diff_view.js';
import {download, el, fill} from './dom.js';
import {FlameView} from './flame_view.js';
import {formatTime, formatWeight, groupDigits, visibleText} from './format.js';
import {threadOfCall} from './latencies.js';
import {LatencyView} from './latency_view.js';
import {Marks} from './marks.js';
import {Menus} from './menus.js';
import {pictureOf} from './picture.js';
import {SandwichView} from './sandwich_view.js';
import {matchesByWeight} from './search.js';
import {hashOfState, History, initialState, ORDERS, PANELS, stateOfHash, threadsAfter} from './state.js';
import {TableView} from './table_view.js';
import {TimelineView} from './timeline_view.js';
import {Toolbar} from './toolbar.js';
import {STEPS} from './transforms.js';
import {REASONS} from './waits.js';
import {WaitsView} from './waits_view.js';
import {isOfBaseline, isTraced} from './weights.js';

const COLOURS = ['kind', 'object', 'name'];
const DIFF_NAMES = ['less', '', '', 'same', '', '', 'more'];
const THEMES = ['system', 'light', 'dark'];
const NARROW_PAGE = 760;
const NAMED_MOST = 12; // threads in the heading of an exported picture

// The first and last time of anything in the recording.
function extentOf(data) {
    let begin = Infinity, end = -Infinity;
    const take = (from, to) => {
        begin = Math.min(begin, from);
        end = Math.max(end, to);
    };
    for (let t = 0; t < data.threads.count; t++) {
        const {samples, calls, intervals} = data;
        if (samples.ranges[t] < samples.ranges[t + 1]) take(samples.time[samples.ranges[t]], samples.time[samples.ranges[t + 1] - 1]);
        if (intervals.ranges[t] < intervals.ranges[t + 1]) take(intervals.start[intervals.ranges[t]], intervals.end[intervals.ranges[t + 1] - 1]);
        for (let i = calls.ranges[t]; i < calls.ranges[t + 1]; i = calls.end[i]) take(calls.start[i], calls.start[i] + calls.duration[i]);
    }
    for (let i = 0; i < data.marks.count; i++) take(data.marks.time[i], data.marks.time[i]); // the page has no losses outside the range of its other data
    return begin <= end ? {begin, end: end + 1} : {begin: 0, end: 1};
}

export class App {
    constructor(data) {
        this.data = data;
        this.functions = new Functions(data);
        this.derivations = new Derivations(data, this.functions);
        this.marks = new Marks(data);
        this.extent = extentOf(data);
        this.history = new History(this.startingState());
        this.toolbar = new Toolbar(this);
        this.timeline = new TimelineView(this);
        this.views = {flame: new FlameView(this), sandwich: new SandwichView(this), table: new TableView(this), latency: new LatencyView(this), diff: new DiffView(this), code: new CodeView(this), waits: new WaitsView(this)};
        this.details = new DetailsView(this);
        this.menus = new Menus(this);
        this.status = el('footer', {class: 'status', role: 'status', 'aria-live': 'polite'});
        this.main = el('main', {class: 'views', id: 'views'}, ...PANELS.map(({name}) => this.views[name].element));
        this.build();
    }

    // --- The state.

    get state() { return this.previewed || this.history.present; }
    hashFacts() {
        return {funcCount: this.data.funcs.count, threadCount: this.data.threads.count, eventCount: this.data.meta.events.length,
                nameOf: (func) => this.functions.nameOf(func)};
    }
    startingState() {
        const {state, ignored} = stateOfHash(location.hash, this.hashFacts());
        this.ignored = ignored;
        if (!this.hasSamples() && !location.hash.includes('ev=')) state.event = this.data.meta.events.findIndex((event) => event.traced) >= 0 ? this.data.meta.events.findIndex((event) => event.traced) : 0;
        if (!this.offers(state.panel)) state.panel = 'flame';
        if (this.data.meta.only_switches && this.hasWaits() && !location.hash) state.panel = 'waits'; // the samples are all in the scheduler
        this.adoptColour(state);
        if (this.hasBaseline() && !location.hash) state.panel = 'diff'; // --diff was given
        return state;
    }
    // Traced calls are all of one kind, so colours represent names instead.
    hasOneKind() { return !this.hasSamples() && this.hasCalls(); }
    adoptColour(state) {
        if (this.hasOneKind() && state.colour === 'kind') state.colour = 'name';
    }
    // Changes members of the state. `replace`: adds no step to the history; for changes at every key press.
    change(members, {replace = false} = {}) {
        const began = performance.now(), next = {...this.history.present, ...members};
        this.previewed = null;
        if (replace) this.history.present = next;
        else this.history.push(next);
        const hash = hashOfState(next, (func) => this.functions.nameOf(func));
        try {
            history[replace ? 'replaceState' : 'pushState'](null, '', hash);
        } catch (error) {
            location.hash = hash; // some browsers refuse pushState if it is called often
        }
        this.render();
        this.say(''); // the last message was about the previous selection
        this.changeTook = performance.now() - began;
    }
    // Changes the visible range of the timeline, which is not a step of the history.
    look(visible) {
        this.history.present = {...this.history.present, visible};
        if (this.previewed) this.previewed = {...this.previewed, visible};
    }
    preview(members) {
        this.previewed = {...this.history.present, ...members};
        this.renderPanel();
    }
    undo() {
        if (this.history.undo()) this.travelled();
    }
    redo() {
        if (this.history.redo()) this.travelled();
    }
    travelled() {
        history.replaceState(null, '', hashOfState(this.state, (func) => this.functions.nameOf(func)));
        this.render();
        this.say('');
    }
    select(func, node) {
        this.change({func, node}, {replace: true});
    }

    // --- Functions for the views.

    view() { return this.derivations.of(this.state); }
    table() { return this.derivations.tableOf(this.state); }
    search() { return this.derivations.searchOf(this.state); }
    unit() { return this.state.measure === 'count' ? null : this.data.meta.events[this.state.event].unit; }
    hasCalls() { return this.data.calls.depth.length > 0; }
    hasBaseline() { return this.data.meta.events.some((event) => event.baseline); }
    hasCode() { return this.data.code.funcs.length > 0; }
    hasWaits() { return this.data.waits.count > 0; }
    offers(panel) {
        const has = {diff: () => this.hasBaseline(), code: () => this.hasCode(), waits: () => this.hasWaits()};
        return !has[panel] || has[panel]();
    }
    hasSamples() { return this.data.samples.count > 0; }
    narrow() { return window.innerWidth <= NARROW_PAGE; }
    rowOf(func) { return this.table().find((row) => row.func === func) || {func, self: 0, total: 0}; }
    lifeOf(thread) {
        const {start, end} = this.data.threads, {extent} = this;
        return {begin: start[thread] >= 0 ? start[thread] : extent.begin, end: end[thread] >= 0 ? end[thread] : extent.end};
    }
    isIdle(thread) {
        const {samples, calls} = this.data;
        return samples.ranges[thread] === samples.ranges[thread + 1] && calls.ranges[thread] === calls.ranges[thread + 1];
    }
    threadWeights(func) {
        return this.previewed ? [] : this.derivations.threadsOf(this.state, func, this.timeline.threads); // dragging must be fast
    }
    threadName(thread) {
        const {threads, strings} = this.data;
        if ((threads.tid[thread] | 0) < 0) return 'unknown thread'; // samples without a thread
        return `${visibleText(strings.get(threads.name[thread])) || 'thread'} ${threads.tid[thread]}${isOfBaseline(this.data, thread) ? ' (baseline)' : ''}`;
    }
    describeMark(i) {
        const thread = this.marks.thread[i];
        return `${this.marks.describe(i)}, ${this.marks.when(i, this.extent.begin)} after the start${thread < 0 ? '' : ', ' + this.threadName(thread)}`;
    }
    labelOf(box, func) {
        if (box.node === null) return `${groupDigits(box.nodes.length)} frames`;
        return func === null ? `${isTraced(this.data, this.state.event) ? 'all calls' : 'all samples'}, ${formatWeight(this.view().total[0], this.unit())}` : this.functions.nameOf(func);
    }
    emptyReason() {
        if (this.view().all > 0) return 'The steps above removed all samples.';
        if (this.state.time && isTraced(this.data, this.state.event)) return 'No call begins in this selection. Remove a chip above.';
        if (this.state.time || this.state.threads || this.state.calls) return 'Nothing in this selection. Remove a chip above.';
        return 'Nothing was recorded. Was the program idle? Try perfray record -a, or another event (perfray list).';
    }
    fileFacts() {
        const {meta} = this.data;
        return `Times are kept to ${meta.quantum} ns. ${meta.note || ''} Made by perfray ${meta.version || ''}.`;
    }

    // --- Colours.

    theme() {
        const chosen = document.documentElement.dataset.theme;
        return chosen || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    }
    themeColours() {
        if (this.themeOf === this.theme()) return this.themeKnown;
        this.themeOf = this.theme();
        const style = getComputedStyle(document.documentElement), names = ['bg', 'raise', 'line', 'fg', 'dim', 'mute', 'acc', 'hit', 'warn', 'run', 'new', ...REASONS.slice(1)];
        return (this.themeKnown = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])));
    }
    heavyObjects() {
        if (this.heavy) return this.heavy;
        const sums = new Map();
        for (const row of this.derivations.tableOf({...initialState(), event: this.state.event})) {
            const object = this.functions.objectOf(row.func);
            sums.set(object, (sums.get(object) || 0) + row.self);
        }
        return (this.heavy = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([object]) => object));
    }
    colours() {
        const ratios = this.state.colour === 'ratio' ? this.derivations.ratiosOf(this.state) : null;
        const key = `${this.theme()} ${this.state.colour} ${ratios ? this.view().key : ''}`;
        if (this.coloursKey !== key) {
            this.coloursKey = key;
            this.coloursKnown = new Colours(this.functions, this.theme(), ratios || this.state.colour !== 'ratio' ? this.state.colour : 'kind', this.heavyObjects(),
                                             (func) => stepOfRatio(ratios.of.get(func), ratios.all));
        }
        return this.coloursKnown;
    }
    nextColour() {
        const own = COLOURS.filter((colour) => colour !== 'kind' || !this.hasOneKind()), offered = this.derivations.otherEvent(this.state.event) >= 0 ? [...own, 'ratio'] : own;
        return offered[(offered.indexOf(this.state.colour) + 1) % offered.length];
    }
    nextOrder() { return ORDERS[(ORDERS.indexOf(this.state.order) + 1) % ORDERS.length]; }

    // --- Building and drawing the page.

    build() {
        this.body = el('div', {class: 'body'}, this.main, this.details.element);
        const page = el('div', {id: 'app'}, this.toolbar.element, this.timeline.element, this.body, this.status);
        const static_ = document.getElementById('static');
        if (static_) static_.hidden = true;
        for (const heading of document.querySelectorAll('#head h1, #losses')) heading.title = heading.textContent; // the visible text may be cut
        document.body.append(page);
        const losses = document.getElementById('losses');
        if (losses) losses.addEventListener('click', () => this.menus.showLosses(this.data.meta.losses || []));
        window.addEventListener('resize', () => this.render());
        window.addEventListener('popstate', () => this.followAddress());
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.render());
        document.addEventListener('keydown', (event) => this.key(event));
        this.restoreTheme();
        this.timeline.render();
        this.render();
        if (this.ignored.length) this.say(`Ignored parts of the address that do not apply to this recording: ${this.ignored.join(', ')}`);
    }
    followAddress() {
        const {state} = stateOfHash(location.hash, this.hashFacts());
        this.adoptColour(state);
        this.history.push(state);
        this.render();
    }
    render() {
        for (const {name} of PANELS) this.views[name].element.hidden = name !== this.state.panel;
        this.body.classList.toggle('wide', PANELS.some(({name, wide}) => wide && name === this.state.panel));
        this.toolbar.render();
        this.timeline.render();
        this.renderPanel();
    }
    renderPanel() {
        this.views[this.state.panel].render();
        this.details.render();
        this.renderStatus();
    }
    renderStatus() {
        const isChange = this.state.panel === 'diff' || this.state.colour === 'ratio', legend = isChange ? DIFF_PALETTES[this.theme()].map((colour, i) => this.swatch(colour, DIFF_NAMES[i])) : this.state.panel === 'waits' ? [] : this.state.colour === 'kind' ? this.kinds().map((kind) => this.swatch(PALETTES[this.theme()].kind[kind], KIND_NAMES[kind])) : [];
        this.message = this.message || el('span', {class: 'message'});
        this.message.textContent = this.hovered || `${formatWeight(this.view().total[0], this.unit())} selected`;
        const states = this.timeline.painter.legend().map(([name, colour]) => this.swatch(colour, name));
        fill(this.status, this.message, el('span', {class: 'legend'}, ...legend), states.length ? el('span', {class: 'legend'}, 'timeline:', ...states) : null, el('span', {class: 'dim', text: 'Press ? for keys'}));
    }
    // Kinds that functions of the page have.
    kinds() {
        this.kindsKnown = this.kindsKnown || [...new Set(this.data.funcs.kind)].sort((a, b) => a - b);
        return this.kindsKnown;
    }
    swatch(colour, name) {
        const box = el('i', {class: 'swatch'});
        box.style.background = colour;
        return el('span', {}, box, name);
    }
    hover(text) {
        this.hovered = text;
        if (this.message) this.message.textContent = text || `${formatWeight(this.view().total[0], this.unit())} selected`;
    }
    say(text) {
        this.hover(text);
    }
    // Selects one thread; with Ctrl, adds it to the selected ones or removes it.
    chooseThread(thread, {ctrlKey, metaKey}) {
        this.change({threads: threadsAfter(this.state.threads, thread, ctrlKey || metaKey)});
    }
    // Focuses the part of the shown view that has keys of its own.
    focusView() {
        const view = this.views[this.state.panel], element = view.keys || view.element, focusable = element.tabIndex >= 0 ? element : element.querySelector('[tabindex="0"]');
        if (focusable) focusable.focus();
    }
    // Shows a view and moves the focus into it; `stays`: the focus stays at the tab.
    showPanel(panel, {stays = false} = {}) {
        if (panel !== this.state.panel) this.change({panel});
        if (!stays) this.focusView();
    }
    // Selects a call: its thread and its time.
    showCall(i) {
        const {start, duration, func} = this.data.calls, room = duration[i] * 0.1, end = start[i] + duration[i];
        const thread = threadOfCall(this.data, i);
        this.change({time: [Math.floor(start[i]), Math.ceil(end)], visible: this.timeline.fitted(start[i] - room, end + room), threads: new Set([thread])});
        this.timeline.reveal([thread]);
        this.say(`Selected one call of ${this.functions.nameOf(func[i])}, ${formatTime(duration[i])}, and what it called. Backspace goes back.`);
    }

    // Shows a wait {thread, waker, start, end} in the timeline, with an arrow from its waker.
    showWait(wait) {
        this.timeline.wait = wait;
        const room = (wait.end - wait.start) * 0.1;
        this.change({time: [wait.start, wait.end].map(Math.round), visible: this.timeline.fitted(wait.start - room, wait.end + room)});
        this.timeline.reveal([wait.thread, wait.waker]); // afterwards, because the order of rows may depend on the time
        this.say(`Selected the time of one wait, ${formatTime(wait.end - wait.start)}. Backspace goes back.`);
    }

    // --- Steps and search.

    stepFor(key, step) {
        const {func, node} = this.state;
        if (step.needs === 'func') return func === null ? null : {key, id: func};
        if (step.needs === 'node') return node && !this.state.inverted ? {key, id: node} : null;
        if (step.needs === 'object') return func === null || this.functions.objectOf(func) < 0 ? null : {key, id: this.functions.objectOf(func)};
        return step.needs === null ? {key} : null;
    }
    canApply(key, step) { return this.stepFor(key, step) !== null; }
    applyStep(key) {
        const step = this.stepFor(key, STEPS[key]);
        if (!step) return;
        this.addStep(step);
        if (this.state.panel === 'waits') this.say('This changes the stacks of the other views, not the waits. Backspace goes back.');
    }
    addStep(step) {
        this.change({steps: [...this.state.steps, step], zoom: null, node: null});
    }
    openMenu(x, y) { this.menus.open(x, y); }
    openMenuAtSelection() {
        if (this.state.func !== null) this.menus.open(window.innerWidth / 3, window.innerHeight / 2);
    }
    nextMatch(by) {
        const search = this.search(), view = this.view();
        if (!search || search.error) return;
        const nodes = matchesByWeight(search.nodes, view.total), at = nodes.indexOf(this.state.node);
        if (!nodes.length) return;
        const node = nodes[(at + by + nodes.length) % nodes.length];
        this.change({node, func: view.tree.func[node], zoom: this.narrowNode(node) ? node : this.state.zoom}, {replace: true});
    }
    narrowNode(node) {
        const view = this.view();
        return view.total[node] / view.total[this.state.zoom ?? 0] * this.main.clientWidth < 24;
    }

    // --- Keys.

    key(event) {
        if (event.isComposing || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector('dialog[open]')) return;
        const command = event.ctrlKey || event.metaKey ? this.commandKey(event) : event.altKey ? null : this.letterKey(event.key);
        if (!command) return;
        event.preventDefault();
        command();
    }
    commandKey(event) {
        if (event.key === 'f') return () => this.toolbar.focusSearch();
        if (event.key.toLowerCase() !== 'z') return null;
        return event.shiftKey ? () => this.redo() : () => this.undo();
    }
    letterKey(key) {
        const number = Number(key) - 1;
        if (PANELS[number]) return () => this.offers(PANELS[number].name) ? this.showPanel(PANELS[number].name) : this.say(PANELS[number].missing);
        if (STEPS[key] && /[a-zA-Z]/.test(key)) return this.canApply(key, STEPS[key]) ? () => this.applyStep(key) : null;
        const keys = {'/': () => this.toolbar.focusSearch(), '?': () => this.menus.showHelp(), n: () => this.nextMatch(1), N: () => this.nextMatch(-1),
                      v: () => this.change({inverted: !this.state.inverted, zoom: null}), o: () => this.change({colour: this.nextColour()}), l: () => this.change({order: this.nextOrder()}),
                      u: () => this.change({measure: this.state.measure === 'count' ? 'weight' : 'count'}), e: () => this.nextEvent(), t: () => this.nextTheme(),
                      '[': () => this.nextThread(-1), ']': () => this.nextThread(1), Backspace: () => this.undo(), Escape: () => this.escape(), '.': () => this.openMenuAtSelection(),
                      '+': () => this.views.flame.zoomTo({node: this.state.node ?? 0}), '-': () => this.views.flame.zoomOut(), 0: () => this.change({zoom: null, visible: null}),
                      x: () => this.exportView(), y: () => this.copy(this.state.func === null ? '' : this.functions.nameOf(this.state.func)), Y: () => this.copyStack(),
                      '\\': () => document.body.classList.toggle('no-details') || this.render()};
        return keys[key] || null;
    }
    // Undoes one thing with each press.
    escape() {
        if (this.menus.close()) return;
        if (this.state.query) this.change({query: ''});
        else if (this.state.zoom !== null) this.change({zoom: null});
        else if (this.state.func !== null) this.select(null, null);
        else if (this.state.time || this.state.threads || this.state.calls) this.change({time: null, visible: null, threads: null, calls: null});
    }
    // In a comparison, the baseline may have samples of an event of which the newer recording has none.
    offersEvent(event) {
        return event.samples !== 0 || this.data.meta.events.some(({baseline}) => baseline);
    }
    nextEvent() {
        const own = this.data.meta.events.filter((event) => !event.baseline), order = own.map((_, i) => (this.state.event + 1 + i) % own.length);
        this.change({event: order.find((i) => this.offersEvent(own[i])) ?? this.state.event, zoom: null});
    }
    nextThread(by) {
        const order = this.timeline.threads, at = this.state.threads && this.state.threads.size === 1 ? order.indexOf([...this.state.threads][0]) : by > 0 ? -1 : order.length;
        const next = at + by;
        this.change({threads: next >= 0 && next < order.length ? new Set([order[next]]) : null});
    }

    // --- Theme, export, clipboard.

    restoreTheme() {
        try {
            const theme = localStorage.getItem('perfray-theme');
            if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
        } catch (error) {
            delete document.documentElement.dataset.theme; // no storage available: use the system's theme
        }
    }
    nextTheme() {
        const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || 'system') + 1) % THEMES.length];
        if (next === 'system') delete document.documentElement.dataset.theme;
        else document.documentElement.dataset.theme = next;
        try {
            localStorage.setItem('perfray-theme', next);
        } catch (error) {
            this.say('this browser does not save the theme for pages opened from files');
        }
        this.render();
        this.say(`theme: ${next}`);
    }
    exportView() {
        const view = this.views[this.state.panel], text = view.tsv ? view.tsv() : this.picture(), name = view.tsv ? 'perfray.tsv' : 'perfray.svg';
        if (!text) return this.say('This view has nothing to export.');
        download(name, view.tsv ? 'text/tab-separated-values' : 'image/svg+xml', text);
        return this.say(`Exported ${PANELS.find(({name: panel}) => panel === this.state.panel).title} as ${name}.`);
    }
    picture() {
        const {flame} = this.views, theme = this.themeColours();
        flame.layOut(flame.element.clientWidth || 1200); // the state may have changed while another view was shown
        const boxes = flame.boxes.map((box) => {
            const func = flame.funcOf(box), colour = func === null ? {fill: theme.raise, ink: theme.fg} : this.colours().of(func);
            return {box, name: this.labelOf(box, func), title: flame.describeBox(box), colour};
        });
        return pictureOf([document.title, this.selectionText()], boxes, flame.rows, theme.bg, theme.fg);
    }
    // The selection in words, with the names of the selected threads.
    selectionText() {
        const {threads} = this.state, parts = this.toolbar.selectionOf(this.state).map(([text]) => text), names = [...threads || []].slice(0, NAMED_MOST).map((thread) => this.threadName(thread));
        if (threads && threads.size > 1) parts.push(names.join(', ') + (threads.size > names.length ? ' and others' : ''));
        return [this.data.meta.events[this.state.event].name, ...parts].join('; ');
    }
    // The unit of weights, for the heads of tables that other programs read.
    unitName() {
        const {measure, event} = this.state;
        return measure === 'count' ? isTraced(this.data, event) ? 'calls' : 'samples' : this.unit() || this.data.meta.events[event].name;
    }
    copy(text) {
        if (!text) return;
        const say = () => this.say(`copied: ${text.split('\n')[0]}`);
        if (navigator.clipboard) navigator.clipboard.writeText(text).then(say, () => this.say('the browser does not let pages of files copy'));
    }
    copyStack() {
        const view = this.view(), names = [];
        for (let at = this.state.node || 0; at > 0; at = view.tree.parent[at]) names.push(this.functions.nameOf(view.tree.func[at]));
        this.copy(names.join('\n'));
    }
}
