import type { Locator, Page } from 'playwright-core'

/** More than a page has of elements that take the focus. */
const PRESSES_MAX = 150

/** Notes the element that had the focus whenever the page takes it away. The tab key may leave the page at its end. */
const watchFocus = `(() => {
  globalThis.lostFocus = []
  let last = null
  let isLeaving = false
  addEventListener('keydown', ({ key }) => { isLeaving = key === 'Tab' }, true)
  addEventListener('focusin', () => { isLeaving = false }, true)
  setInterval(() => {
    const { activeElement, body } = document
    if (activeElement !== null && activeElement !== body) last = activeElement.outerHTML.slice(0, 200)
    else if (last !== null && !isLeaving) {
      globalThis.lostFocus.push(last)
      last = null
    }
  }, 20)
})()`

export type Keyboard = Readonly<{
  /** Presses the tab key until the element has the focus, and shows it. */
  tabTo(target: Locator): Promise<void>
  press(target: Locator, key: string): Promise<void>
  /** Chooses an option of a list by arrow keys. */
  choose(list: Locator, value: string): Promise<void>
  /** Elements that lost the focus to nothing. */
  lostFocus(): Promise<readonly string[]>
}>

/** Drives a page by the keyboard alone. */
export async function createKeyboard(page: Page): Promise<Keyboard> {
  await page.evaluate(watchFocus)
  const tabTo = async (target: Locator) => {
    await target.waitFor()
    for (let presses = 0; !(await hasFocus(target)); presses += 1) {
      if (presses === PRESSES_MAX) throw new Error(`the tab key does not reach ${target}`)
      await page.keyboard.press('Tab')
    }
    if (!(await showsFocus(page))) throw new Error(`the focus is not shown on ${target}`)
  }
  return {
    tabTo,
    async press(target, key) {
      await tabTo(target)
      await page.keyboard.press(key)
    },
    async choose(list, value) {
      await tabTo(list)
      await page.keyboard.press('Home')
      for (let last = ''; (await list.inputValue()) !== value; await page.keyboard.press('ArrowDown')) {
        if (last === (await list.inputValue())) throw new Error(`${list} has no option ${value}`)
        last = await list.inputValue()
      }
    },
    lostFocus: () => page.evaluate<string[]>('globalThis.lostFocus'),
  }
}

const hasFocus = (target: Locator) =>
  target.evaluate((element) => {
    const { ownerDocument } = element as unknown as { ownerDocument: { activeElement: unknown } }
    return ownerDocument.activeElement === element
  })

const isFocusShown = `((element) => {
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  return element.matches(':focus-visible') && outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
})`

const showsFocus = (page: Page) => page.evaluate<boolean>(`${isFocusShown}(document.activeElement)`)

/** Notes of every element that takes the focus by the tab key whether it got it and showed it. Returns their number. */
const watchStops = `(() => {
  const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
  const stops = all.filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }))
  globalThis.stops = new Map(stops.map((one) => [one, 'not reached']))
  addEventListener('focusin', ({ target }) => {
    if (globalThis.stops.has(target)) globalThis.stops.set(target, ${isFocusShown}(target) ? null : 'not shown')
  }, true)
  return stops.length
})()`

/** Parts of dates, parts that scroll, and what is outside of the page: browsers stop there too. */
const OTHER_STOPS = 30

/** Goes through the whole page by the tab key: elements that it does not reach, or that do not show the focus. */
export async function findUnreached(page: Page): Promise<readonly string[]> {
  const count = await page.evaluate<number>(watchStops)
  for (let presses = 0; presses < count + OTHER_STOPS; presses += 1) await page.keyboard.press('Tab')
  return page.evaluate<string[]>(`[...globalThis.stops].filter(([one, problem]) => problem !== null && one.isConnected)
    .map(([one, problem]) => problem + ': ' + one.textContent.slice(0, 40) + ' ' + one.outerHTML.slice(0, 200))`)
}
