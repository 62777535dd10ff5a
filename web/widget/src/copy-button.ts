import { h, lineIcon, setText } from './dom.ts'
import { labels } from './labels.ts'
import type { Widget } from './widget.ts'

const SHOWN_MS = 2_000
const COPY = 'M9 9h11v11H9zM5 15H4V4h11v1'
const DONE = 'M5 12l5 5L20 7'

/** Copies `text`. Where the page may not write to the clipboard, it selects what `source` shows. */
export function copyButton({ announce }: Widget, what: string, text: string, source: Element): HTMLButtonElement {
  const name = h('span', { class: 'hidden' }, labels.exchange.copy(what))
  const button = h('button', { type: 'button', class: 'plain copy', part: 'copy' }, lineIcon(COPY), name)
  const show = (path: string, title: string) => {
    button.firstChild?.replaceWith(lineIcon(path))
    setText(name, title)
  }
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text)
      show(DONE, labels.exchange.copied)
      announce(labels.exchange.copied)
      setTimeout(() => show(COPY, labels.exchange.copy(what)), SHOWN_MS)
    } catch {
      getSelection()?.selectAllChildren(source)
    }
  })
  return button
}
