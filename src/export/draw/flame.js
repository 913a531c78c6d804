// Makes a flame graph interactive in a browser: a click widens a box, and the search marks names. Names are read and
// written as text only; the script examines no other part of the image and loads nothing.
(function () {
    "use strict";
    const root = (document.currentScript && document.currentScript.closest("svg")) || document.documentElement;
    const find = name => root.querySelector(name);
    const area = find(".frames"), details = find(".details"), tools = find(".tools"), reset = find(".reset");
    const field = tools.querySelector("input"), matched = find(".matched"), ruler = find(".ruler");
    const top = find(".top"), bottom = find(".bottom");
    const upward = root.getAttribute("data-upward") === "1", height = parseFloat(root.getAttribute("height"));
    const MARGIN = 12, NEAR = 2e-5;

    const frames = Array.from(area.children, function (element) {
        const words = element.firstElementChild.textContent;
        return {
            element: element, words: words.split("\n").join("   "), name: words.split("\n", 1)[0],
            text: element.lastElementChild, hit: false, shown: true,
            x: parseFloat(element.getAttribute("x")), width: parseFloat(element.getAttribute("width")),
            row: parseFloat(element.getAttribute("y")) * (upward ? -1 : 1)
        };
    });
    const frameOf = new Map(frames.map(frame => [frame.element, frame]));
    const outwards = frames.slice().sort((a, b) => a.x - b.x || a.row - b.row);
    let view = {x: 0, width: 100, row: -Infinity};

    function shorten(name, letters) {
        const signs = Array.from(name);
        if (letters < 3)
            return "";
        return signs.length <= letters ? name : signs.slice(0, letters - 2).join("") + "..";
    }

    function place(frame, pixels, letter) {
        const right = frame.x + frame.width, end = view.x + view.width, isInner = frame.row >= view.row;
        frame.shown = isInner ? frame.x >= view.x - NEAR && right <= end + NEAR
            : frame.x <= view.x + NEAR && right >= end - NEAR;
        frame.element.setAttribute("display", frame.shown ? "inline" : "none");
        if (!frame.shown)
            return;
        const width = isInner ? frame.width / view.width * 100 : 100;
        frame.element.setAttribute("x", (isInner ? (frame.x - view.x) / view.width * 100 : 0) + "%");
        frame.element.setAttribute("width", width + "%");
        frame.element.classList.toggle("around", !isInner);
        frame.text.textContent = shorten(frame.name, Math.floor((width / 100 * pixels - 6) / letter));
    }

    // Keeps title, search, details and legend in place while the boxes scroll.
    function pin() {
        const page = document.documentElement;
        if (root !== page)
            return;
        const below = Math.min(height, window.scrollY + page.clientHeight) - height;
        top.setAttribute("transform", "translate(0 " + window.scrollY + ")");
        bottom.setAttribute("transform", "translate(0 " + below + ")");
    }

    function draw() {
        if (!root.hasAttribute("data-fixed"))
            root.setAttribute("width", "100%");
        const pixels = Math.max(100, root.getBoundingClientRect().width - 2 * MARGIN);
        const letter = ruler.getComputedTextLength() / 10 || 7.25;
        area.setAttribute("width", pixels);
        for (const frame of frames)
            place(frame, pixels, letter);
        pin();
    }

    function zoom(frame) {
        const isAll = !frame || frame.width >= 100 - NEAR;
        view = isAll ? {x: 0, width: 100, row: -Infinity} : {x: frame.x, width: frame.width, row: frame.row};
        reset.setAttribute("display", isAll ? "none" : "inline");
        draw();
    }

    function matcherOf(term) {
        const plain = term.toLowerCase();
        let pattern = null;
        try {
            pattern = new RegExp(term, "i");
        } catch (error) {
            pattern = null;
        }
        return name => name.toLowerCase().includes(plain) || (pattern !== null && pattern.test(name));
    }

    // Returns the share of the image that matching boxes cover; nested matches count once.
    function search(term) {
        const matches = matcherOf(term);
        let sum = 0, counted = -1;
        for (const frame of outwards) {
            frame.hit = term !== "" && matches(frame.name);
            frame.element.classList.toggle("hit", frame.hit);
            if (frame.hit && frame.x >= counted - NEAR) {
                sum += frame.width;
                counted = frame.x + frame.width;
            }
        }
        root.classList.toggle("searching", term !== "");
        matched.textContent = term === "" ? "" : "matched: " + sum.toFixed(2) + " %";
    }

    function clearSearch() {
        field.value = "";
        search("");
    }

    area.addEventListener("click", function (event) {
        const element = event.target.closest(".frames > svg");
        if (element)
            zoom(frameOf.get(element));
    });
    area.addEventListener("mouseover", function (event) {
        const element = event.target.closest(".frames > svg");
        details.textContent = element ? frameOf.get(element).words : "";
    });
    area.addEventListener("mouseleave", () => { details.textContent = ""; });
    field.addEventListener("input", () => search(field.value));
    reset.addEventListener("click", () => zoom(null));
    reset.addEventListener("keydown", function (event) {
        if (event.key === "Enter" || event.key === " ")
            zoom(null);
    });
    window.addEventListener("keydown", function (event) {
        if (event.key === "Escape") {
            if (field.value !== "")
                clearSearch();
            else
                zoom(null);
            field.blur();
        } else if (event.key === "/" && event.target !== field && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            field.focus();
        }
    });
    window.addEventListener("resize", draw);
    window.addEventListener("scroll", pin, {passive: true});
    tools.setAttribute("display", "inline");
    draw();
    if (upward && root === document.documentElement)
        window.scrollTo(0, height);
})();
