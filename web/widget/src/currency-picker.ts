import type { Currency } from '@swapyard/sdk'
import { networkOf, searchCurrencies, tickerOf } from './currencies.ts'
import { currencyIcon } from './currency-icon.ts'
import { createId, h, lineIcon, set, setText } from './dom.ts'
import { labels } from './labels.ts'
import type { Widget } from './widget.ts'

export type CurrencyPicker = Readonly<{
  element: HTMLElement
  open(title: string, current: Currency, choose: (chosen: Currency) => void): void
}>

/** Entries that a key passes. */
const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }

/**
 * A panel above the form: a combobox by the ARIA pattern with a list that is always open. The focus stays in the input, and
 * `aria-activedescendant` names the active entry. `setOpen`: makes the form below inert, so that the focus cannot leave into it.
 */
export function createCurrencyPicker(
  { currencies, origin, signal }: Widget,
  setOpen: (isOpen: boolean) => void,
): CurrencyPicker {
  const panel = createPanel()
  const { element, input, close } = panel
  let choose: (chosen: Currency) => void = () => undefined

  const hide = () => {
    element.hidden = true
    setOpen(false)
  }
  const take = (chosen: Currency | undefined) => {
    if (chosen === undefined) return
    hide()
    choose(chosen)
  }
  const options = createOptions(panel, origin, take)
  input.addEventListener('input', () => options.show(searchCurrencies(currencies, input.value)))
  close.addEventListener('click', hide)
  element.addEventListener('keydown', (event) => {
    const move = moves[event.key]
    if (event.key === 'Escape') hide()
    else if (event.key === 'Enter' && event.target === input) take(options.active())
    else if (move !== undefined) options.move(move)
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  // The target of the event is the host, so its path says where it was.
  const hideIfElsewhere = (event: Event) => {
    if (!element.hidden && !event.composedPath().includes(element)) hide()
  }
  document.addEventListener('pointerdown', hideIfElsewhere, { signal })
  return {
    element,
    open(title, current, onChosen) {
      choose = onChosen
      setText(panel.title, title)
      set(panel.list, 'aria-label', title)
      input.value = ''
      element.hidden = false
      setOpen(true)
      options.show(currencies, current)
      input.focus()
    },
  }
}

function createPanel() {
  const list = h('ul', { id: createId('list'), role: 'listbox', class: 'options' })
  const input = h('input', {
    ...{ type: 'text', role: 'combobox', class: 'search', maxlength: 60 },
    ...{ autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' },
    ...{ placeholder: labels.picker.search, 'aria-label': labels.picker.search },
    ...{ 'aria-expanded': 'true', 'aria-autocomplete': 'list', 'aria-controls': list.id },
  })
  const title = h('h2', { id: createId('title') })
  const count = h('p', { class: 'hidden', role: 'status' })
  const none = h('p', { class: 'quiet none', hidden: true }, labels.picker.none)
  const close = h('button', { type: 'button', class: 'plain', 'aria-label': labels.picker.close })
  close.append(lineIcon('M6 6l12 12M18 6L6 18'))
  const head = h('div', { class: 'picker-head' }, title, close)
  const members = { class: 'picker', part: 'picker', role: 'dialog', 'aria-labelledby': title.id, hidden: true }
  return { element: h('div', members, head, input, count, none, list), list, input, title, count, none, close }
}

/** The entries that match, and the active one. */
function createOptions(
  { list, input, count, none }: ReturnType<typeof createPanel>,
  origin: string,
  take: (chosen: Currency) => void,
) {
  let found: readonly Currency[] = []
  let active = 0
  const activate = (next: number) => {
    const last = list.children[active]
    if (last !== undefined) set(last, 'aria-selected', 'false')
    active = Math.max(0, Math.min(found.length - 1, next))
    const option = list.children[active]
    set(input, 'aria-activedescendant', option?.id ?? null)
    if (option === undefined) return
    set(option, 'aria-selected', 'true')
    option.scrollIntoView({ block: 'nearest' })
  }
  return {
    active: () => found[active],
    move: (by: number) => activate(active + by),
    show(next: readonly Currency[], current?: Currency) {
      found = next
      list.replaceChildren(...found.map((one) => optionOf(one, origin, () => take(one))))
      none.hidden = found.length > 0
      list.hidden = found.length === 0
      setText(count, found.length === 0 ? labels.picker.none : labels.picker.count(found.length))
      activate(current === undefined ? 0 : found.indexOf(current))
    },
  }
}

function optionOf(currency: Currency, origin: string, take: () => void): HTMLElement {
  const { name } = currency
  return h(
    'li',
    { id: createId('option'), role: 'option', 'aria-selected': 'false', onclick: take },
    currencyIcon(currency, origin),
    h('span', { class: 'names' }, h('b', {}, tickerOf(currency)), ' ', h('span', { class: 'quiet' }, name)),
    h('span', { class: 'quiet network' }, networkOf(currency)),
  )
}
