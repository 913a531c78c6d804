// SPDX-License-Identifier: Apache-2.0
// Creates elements. Text is only inserted as text, because names from a recording may contain anything.

const SVG = 'http://www.w3.org/2000/svg';

function setAttribute(node, name, value) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'text') node.textContent = value;
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
}

// el('button', {class: 'tab', onclick: f, text: 'Table'}, child, …)
export function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
}

export function svgEl(tag, attributes = {}, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
    node.append(...children);
    return node;
}

export const fill = (node, ...children) => node.replaceChildren(...children.filter((child) => child !== null && child !== undefined));

// Fits a canvas to its element in device pixels; returns the drawing context, scaled to CSS pixels.
export function fitCanvas(canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return context;
}

// Returns a function that runs `work` once in the next frame, even if it is called several times before.
export function onceAFrame(work) {
    let asked = false;
    return () => {
        if (asked) return;
        asked = true;
        requestAnimationFrame(() => {
            asked = false;
            work();
        });
    };
}

// Offers a file as a download.
export function download(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], {type}));
    const link = el('a', {href: url, download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}
