import { type Currency, createSwapyard, type Flow } from '@swapyard/sdk'
import { findCurrency } from './currencies.ts'
import { h, setText } from './dom.ts'
import { createExchangeView } from './exchange-view.ts'
import { describeCreateFailure, describeFirstFailure, NO_KEY, NO_SCRIPT_ORIGIN } from './failures.ts'
import { labels } from './labels.ts'
import { createOrderForm } from './order-form.ts'
import { reportDelay } from './report-delay.ts'
import { openSession, type Started, sessionNameOf } from './session.ts'
import { isRefused, startExchange } from './start-exchange.ts'
import css from './style.css?inline'
import type { Widget } from './widget.ts'

const TAG = 'swapyard-widget'
/** React keeps `key` for itself. */
const KEY_NAMES = ['key', 'publishable-key'] as const
const observed = [...KEY_NAMES, 'from', 'to', 'amount', 'flow', 'address', 'external-id', 'accent']

const RETRY_DELAY_MAX_MS = 3_000

/** Of the API. */
let origin: string | null = null
// Constructed sheets need no permission of the page's policy for styles.
const sheet = new CSSStyleSheet()

class SwapyardWidget extends HTMLElement {
  static readonly observedAttributes = observed
  readonly #root = this.attachShadow({ mode: 'open' })
  readonly #live = h('p', { class: 'hidden', role: 'status' })
  readonly #card = h('section', { part: 'card', 'aria-label': labels.region })
  #controller = new AbortController()
  #view = new AbortController()
  #isScheduled = false

  connectedCallback(): void {
    this.#root.adoptedStyleSheets = [sheet]
    this.#root.replaceChildren(this.#card, this.#live)
    this.#schedule()
  }

  disconnectedCallback(): void {
    this.#controller.abort()
  }

  attributeChangedCallback(name: string): void {
    if (name === 'accent') this.style.setProperty('--swapyard-accent', this.getAttribute('accent') ?? '')
    else this.#schedule()
  }

  /** Frameworks set attributes one by one. */
  #schedule(): void {
    if (this.#isScheduled || !this.isConnected) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#controller.abort()
      this.#controller = new AbortController()
      if (this.isConnected) void this.#load(this.#controller.signal)
    })
  }

  #show(...content: readonly HTMLElement[]): void {
    this.#card.replaceChildren(...content)
  }

  #showFailure(text: string, retry: (() => void) | null): void {
    const button = h('button', { type: 'button', class: 'second', onclick: () => retry?.() }, labels.retry)
    this.#show(h('p', { class: 'problem', role: 'alert' }, text), ...(retry === null ? [] : [button]))
  }

  /** Waits, and says after some seconds that it takes long. */
  #wait<Result>(result: Promise<Result>, text: string, signal: AbortSignal): Promise<Result> {
    return reportDelay(result, () => {
      if (signal.aborted) return
      this.#show(h('p', { class: 'quiet loading' }, text))
      setText(this.#live, text)
    })
  }

  async #load(signal: AbortSignal): Promise<void> {
    const key = KEY_NAMES.map((name) => this.getAttribute(name)?.trim()).find((value) => value) ?? null
    if (origin === null) return this.#showFailure(NO_SCRIPT_ORIGIN, null)
    if (key === null) return this.#showFailure(NO_KEY, null)
    this.#show(h('p', { class: 'quiet loading' }, labels.loading))
    try {
      // The user waits and sees nothing meanwhile. The next press repeats a create with the same key.
      const api = createSwapyard({ baseUrl: origin, apiKey: key, retries: 1, maxRetryDelayMs: RETRY_DELAY_MAX_MS })
      const listed = await this.#wait(api.listCurrencies({ signal, retries: 1 }), labels.slow, signal)
      await this.#begin({
        origin,
        api,
        publicApi: createSwapyard({ baseUrl: origin }),
        session: openSession(sessionNameOf(key, this)),
        currencies: listed.filter(({ enabled }) => enabled),
        signal,
        announce: (text) => setText(this.#live, text),
        emit: (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true })),
      })
    } catch (error) {
      const text = await describeFirstFailure(error, origin, signal)
      if (!signal.aborted) this.#showFailure(text, () => this.#schedule())
    }
  }

  /** Continues what a reload interrupted, else shows the form. */
  async #begin(widget: Widget): Promise<void> {
    const { started, attempt } = widget.session.read()
    if (started !== undefined) return this.#showExchange(widget, started, false)
    if (attempt === undefined) return this.#showForm(widget)
    try {
      const created = startExchange(widget, attempt)
      this.#showExchange(widget, await this.#wait(created, labels.form.slow, widget.signal), false)
    } catch (error) {
      if (isRefused(error)) this.#showForm(widget)
      else if (!widget.signal.aborted) this.#showFailure(describeCreateFailure(error), () => this.#schedule())
    }
  }

  /** Ends what the view before it did. */
  #enter(widget: Widget): Widget {
    this.#view.abort()
    this.#view = new AbortController()
    return { ...widget, signal: AbortSignal.any([widget.signal, this.#view.signal]) }
  }

  #showForm(widget: Widget): void {
    const { currencies } = widget
    const from = findCurrency(currencies, this.getAttribute('from')) ?? currencies[0]
    const differs = (one: Currency | undefined) => one !== undefined && one !== from
    const to = [findCurrency(currencies, this.getAttribute('to')), ...currencies].find(differs)
    if (from === undefined || to === undefined) {
      this.#showFailure(labels.form.none, () => this.#schedule())
      return
    }
    const read = (name: string) => this.getAttribute(name)?.trim() ?? ''
    const flow: Flow = read('flow') === 'fixed-rate' ? 'fixed-rate' : 'standard'
    this.#show(
      createOrderForm(this.#enter(widget), {
        ...{ from, to, flow, amount: read('amount'), address: read('address') },
        externalId: read('external-id') || null,
        onStarted: (started) => this.#showExchange(widget, started, true),
      }),
    )
  }

  #showExchange(widget: Widget, started: Started, isNew: boolean): void {
    this.#show(
      createExchangeView(this.#enter(widget), started, {
        isNew,
        onAnother: () => {
          widget.session.write({})
          this.#showForm(widget)
          this.#card.querySelector<HTMLElement>('.amount')?.focus()
        },
      }),
    )
  }
}

/** Registers `<swapyard-widget>`. `apiOrigin`: null if the script does not know where it came from. */
export function defineWidget(apiOrigin: string | null): void {
  // The page has the script twice.
  if (customElements.get(TAG) !== undefined) return
  origin = apiOrigin
  sheet.replaceSync(css)
  customElements.define(TAG, SwapyardWidget)
}
