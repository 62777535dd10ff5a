type Value = string | number | boolean | null | undefined | ((event: Event) => void)
type Child = Node | string | null

/**
 * Creates an element. Texts become text nodes and values become attributes, never markup, so a name cannot inject any. A
 * function is a listener (`onclick`).
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  members: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(members)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else set(element, name, value)
  }
  element.append(...children.filter((child) => child !== null))
  return element
}

/** Null, undefined and false remove the attribute. */
export function set(element: Element, name: string, value: string | number | boolean | null | undefined): void {
  if (value === null || value === undefined || value === false) element.removeAttribute(name)
  else element.setAttribute(name, value === true ? '' : String(value))
}

/** Changes the text only where it differs: a live region announces every change. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

let lastId = 0
/** An id for references between elements of one shadow root. */
export function createId(name: string): string {
  lastId += 1
  return `${name}-${lastId}`
}

const SVG = 'http://www.w3.org/2000/svg'

export function svg(viewBox: string, members: Readonly<Record<string, string>>, ...paths: Record<string, string>[]) {
  const element = document.createElementNS(SVG, 'svg')
  for (const [name, value] of Object.entries({ viewBox, ...members })) element.setAttribute(name, value)
  for (const attributes of paths) {
    const path = document.createElementNS(SVG, 'path')
    for (const [name, value] of Object.entries(attributes)) path.setAttribute(name, value)
    element.append(path)
  }
  return element
}

/** A picture of lines beside a text or a name. */
export const lineIcon = (path: string): SVGSVGElement =>
  svg('0 0 24 24', { class: 'line-icon', 'aria-hidden': 'true' }, { d: path })
